#include "borescope/packs/torch/profiler_calls.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

namespace {

constexpr uint32_t kNoRow = kNoDetail;

bool IsHidden(std::string_view name) {
  constexpr std::string_view kHidden[] = {
      "profiler::_record_function_enter",
      "profiler::_record_function_enter_new",
      "profiler::_record_function_exit",
      "aten::is_leaf",
      "aten::output_nr",
      "aten::_version",
  };
  return std::find(std::begin(kHidden), std::end(kHidden), name) != std::end(kHidden);
}

}  // namespace

bool IsInProfilerTree(const Trace& trace, HostId id, ProfilerEvents events) {
  switch (trace.host().kind[id.value]) {
    case HostKind::kOp:
      return events == ProfilerEvents::kOperators || !IsHidden(trace.Name(id));
    case HostKind::kAnnotation:
    case HostKind::kPython:
      return true;
    case HostKind::kRuntime:
    case HostKind::kOther:
      return events == ProfilerEvents::kAll;
  }
  return false;
}

namespace {

class Builder {
 public:
  Builder(const RankView& view, ProfilerEvents events);

  ProfilerCalls Build();

 private:
  struct Event {
    bool is_in_tree = false;
    uint32_t parent = kNoRow;
    uint32_t children = 0;
    int64_t children_ns = 0;
    int64_t self_device_ns = 0;
    int64_t total_device_ns = 0;
  };

  void Nest(uint32_t first_row, uint32_t end_row);
  void SumDeviceTime();
  void MergeChains();
  void SumTotals();

  const RankView& view_;
  const HostEvents& host_;
  ProfilerEvents which_;
  std::vector<Event> events_;  // per host row
};

Builder::Builder(const RankView& view, ProfilerEvents events)
    : view_(view), host_(view.trace.host()), which_(events), events_(host_.size()) {}

void Builder::Nest(uint32_t first_row, uint32_t end_row) {
  std::vector<uint32_t> open;
  for (const uint32_t row : EachRow(first_row, end_row)) {
    if (!IsInProfilerTree(view_.trace, HostId{row}, which_)) {
      continue;
    }
    const int64_t end_ns = host_.end_ns(HostId{row});
    while (!open.empty() && (host_.ts_ns[row] >= host_.end_ns(HostId{open.back()}) ||
                             end_ns > host_.end_ns(HostId{open.back()}))) {
      open.pop_back();
    }
    events_[row].is_in_tree = true;
    if (!open.empty()) {
      Event& parent = events_[open.back()];
      events_[row].parent = open.back();
      ++parent.children;
      parent.children_ns = AddSaturating(parent.children_ns, host_.dur_ns[row]);
    }
    open.push_back(row);
  }
}

void Builder::SumDeviceTime() {
  const DeviceEvents& device = view_.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    const HostId op = view_.index.correlation.op_of[row];
    // The profiler does not know captures, so that kernels of graphs have no operator.
    if (IsDeviceWork(device.kind[row]) && op.valid() && !host_.IsCaptured(op)) {
      int64_t& sum = events_[op.value].self_device_ns;
      sum = AddSaturating(sum, device.dur_ns[row]);
    }
  }
}

// The outer event takes the events and the device work inside the inner one in place of its own.
// Outer events come first, so that one pass merges chains of any length.
void Builder::MergeChains() {
  std::vector<uint32_t> merged_into(events_.size(), kNoRow);
  for (uint32_t row = 0; row < events_.size(); ++row) {
    Event& event = events_[row];
    if (event.parent == kNoRow) {
      continue;
    }
    if (merged_into[event.parent] != kNoRow) {
      event.parent = merged_into[event.parent];
    }
    Event& parent = events_[event.parent];
    if (parent.children == 1 && host_.name[row].value == host_.name[event.parent].value) {
      parent.children = event.children;
      parent.children_ns = event.children_ns;
      parent.self_device_ns = event.self_device_ns;
      merged_into[row] = event.parent;
      event.is_in_tree = false;
    }
  }
}

void Builder::SumTotals() {
  for (auto row = static_cast<uint32_t>(events_.size()); row-- > 0;) {
    Event& event = events_[row];
    if (!event.is_in_tree) {
      continue;
    }
    event.total_device_ns = AddSaturating(event.total_device_ns, event.self_device_ns);
    if (event.parent != kNoRow) {
      int64_t& total = events_[event.parent].total_device_ns;
      total = AddSaturating(total, event.total_device_ns);
    }
  }
}

ProfilerCalls Builder::Build() {
  const Tracks& tracks = view_.trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost) {
      Nest(tracks.first_row[track], tracks.end_row[track]);
    }
  }
  SumDeviceTime();
  if (which_ == ProfilerEvents::kAll) {
    MergeChains();
  }
  SumTotals();
  ProfilerCalls calls;
  for (uint32_t row = 0; row < events_.size(); ++row) {
    const Event& event = events_[row];
    if (event.is_in_tree && host_.kind[row] != HostKind::kPython) {
      calls.id.push_back(HostId{row});
      calls.self_cpu_ns.push_back(AddSaturating(host_.dur_ns[row], -event.children_ns));
      calls.self_device_ns.push_back(event.self_device_ns);
      calls.total_device_ns.push_back(event.total_device_ns);
    }
  }
  return calls;
}

}  // namespace

ProfilerCalls BuildProfilerCalls(const RankView& view, ProfilerEvents events) {
  return Builder(view, events).Build();
}

namespace {

using Dims = std::span<const int64_t>;

Quantity Product(Dims dims) {
  Quantity product = 1;
  for (const int64_t dim : dims) {
    product *= dim;
  }
  return product;
}

Dims DimsOf(const CallArgs& args, size_t index) {
  const OpTensor* tensor = args.Tensor(index);
  return tensor == nullptr ? Dims() : Dims(tensor->dims);
}

// Two FLOPs per product: a matrix of rows x inner in argument `first` with one of inner x columns
// in the next argument, once for each batch if the leading dimension is one.
Quantity MatrixFlops(const CallArgs& args, size_t first, bool is_batched) {
  const Dims left = DimsOf(args, first);
  const Dims right = DimsOf(args, first + 1);
  const size_t rank = is_batched ? 3 : 2;
  if (left.size() != rank || right.size() != rank || left.back() == 0) {
    return 0;
  }
  const int64_t rows = left[rank - 2];
  return Quantity(2) * rows * Product(right);
}

Quantity MmFlops(const CallArgs& args) { return MatrixFlops(args, 0, false); }
Quantity AddmmFlops(const CallArgs& args) { return MatrixFlops(args, 1, false); }
Quantity BmmFlops(const CallArgs& args) { return MatrixFlops(args, 0, true); }
Quantity BaddbmmFlops(const CallArgs& args) { return MatrixFlops(args, 1, true); }

// One FLOP per element of the first argument, whatever the shape of the result.
Quantity ElementFlops(const CallArgs& args) {
  return args.Tensor(0) == nullptr ? Quantity(0) : Product(DimsOf(args, 0));
}

// Positions of a window along one dimension; nothing if it does not fit.
std::optional<int64_t> Positions(Quantity padded, Quantity window, int64_t stride) {
  if (padded.is_overflow() || window.is_overflow() || stride <= 0 ||
      padded.value() < window.value()) {
    return std::nullopt;
  }
  return static_cast<int64_t>((padded.value() - window.value()) / static_cast<uint64_t>(stride)) +
         1;
}

Quantity Conv2dFlops(const CallArgs& args) {
  constexpr size_t kDims = 2;
  const Dims input = DimsOf(args, 0);
  const Dims weight = DimsOf(args, 1);
  const auto stride = args.Integers(3);
  const auto padding = args.Integers(4);
  const auto dilation = args.Integers(5);
  const auto groups = args.Integer(6);
  const auto is_pair = [](const auto& list) { return list && list->size() == kDims; };
  if (input.size() != kDims + 2 || weight.size() != kDims + 2 || !is_pair(stride) ||
      !is_pair(padding) || !is_pair(dilation) || !groups || *groups <= 0) {
    return 0;
  }
  Quantity flops = Quantity(2) * Product(input.first(2)) * weight[0] * Product(weight.last(kDims));
  for (size_t i = 0; i < kDims; ++i) {
    const Quantity window = Quantity((*dilation)[i]) * std::max<int64_t>(0, weight[i + 2] - 1) + 1;
    const auto positions =
        Positions(Quantity(input[i + 2]) + Quantity(2) * (*padding)[i], window, (*stride)[i]);
    if (!positions) {
      return 0;
    }
    flops *= *positions;
  }
  return flops.is_overflow() ? flops : flops.value() / static_cast<uint64_t>(*groups);
}

struct FlopsRow {
  std::string_view op;
  Quantity (*flops)(const CallArgs&);
};
constexpr FlopsRow kFlops[] = {
    {"aten::conv2d", Conv2dFlops}, {"aten::mm", MmFlops},           {"aten::addmm", AddmmFlops},
    {"aten::bmm", BmmFlops},       {"aten::baddbmm", BaddbmmFlops}, {"aten::mul", ElementFlops},
    {"aten::add", ElementFlops},
};

const FlopsRow* Find(std::string_view op) {
  const auto* found = std::find_if(std::begin(kFlops), std::end(kFlops),
                                   [op](const FlopsRow& row) { return row.op == op; });
  return found == std::end(kFlops) ? nullptr : found;
}

}  // namespace

bool HasProfilerFlops(std::string_view op) { return Find(op) != nullptr; }

int64_t ProfilerFlops(std::string_view op, const CallArgs& args) {
  const FlopsRow* row = Find(op);
  if (row == nullptr || !args.is_recorded() || args.is_bad()) {
    return 0;
  }
  const Quantity flops = row->flops(args);
  constexpr auto kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return flops.is_overflow() || flops.value() > kLargest ? 0 : static_cast<int64_t>(flops.value());
}

namespace {

struct Span {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

// The time during which any event of the profiler runs, by begin; spans neither overlap nor touch.
std::vector<Span> TimeOfEvents(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<Span> spans;
  for (const uint32_t row : EachRow(host.size())) {
    if (IsInProfilerTree(trace, HostId{row}, ProfilerEvents::kAll)) {
      spans.push_back({host.ts_ns[row], host.end_ns(HostId{row})});
    }
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  size_t merged = 0;
  for (const Span& span : spans) {
    if (merged > 0 && span.begin_ns <= spans[merged - 1].end_ns) {
      spans[merged - 1].end_ns = std::max(spans[merged - 1].end_ns, span.end_ns);
    } else {
      spans[merged++] = span;
    }
  }
  spans.resize(merged);
  return spans;
}

bool IsInside(const std::vector<Span>& spans, int64_t ts_ns) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), ts_ns,
                       [](int64_t ts, const Span& span) { return ts < span.begin_ns; });
  return after != spans.begin() && ts_ns <= std::prev(after)->end_ns;
}

}  // namespace

int64_t CountMemoryOutsideOfEvents(const Trace& trace) {
  const MemoryEvents& memory = trace.memory();
  if (memory.size() == 0) {
    return 0;
  }
  const std::vector<Span> spans = TimeOfEvents(trace);
  int64_t count = 0;
  for (const uint32_t row : EachRow(memory.size())) {
    const bool is_recorded = memory.ts_ns[row] != kMissing;  // else it is from before the recording
    count += is_recorded && !IsInside(spans, memory.ts_ns[row]) ? 1 : 0;
  }
  return count;
}

}  // namespace borescope::internal
