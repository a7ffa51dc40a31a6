
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/captured_work.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

namespace {

// Appends row `row` of one table to another, with the texts of the other trace.
template <class Table, class Text>
uint32_t CopyRow(const Table& from, uint32_t row, const Text& text, Table& to) {
  ForEachColumn(
      [&](auto& target, const auto& source) {
        using Value = typename std::remove_reference_t<decltype(target)>::value_type;
        if constexpr (std::is_same_v<Value, StringId>) {
          target.push_back(text(source[row]));
        } else {
          target.push_back(source[row]);
        }
      },
      to, from);
  return static_cast<uint32_t>(to.size() - 1);
}

}  // namespace

// By row, so that parents come first. What began before the capture is around the launch, too.
std::vector<uint32_t> CapturedRows::RowsOf(const CapturedGraph& graph) const {
  const CaptureFile& file = files_[graph.file];
  std::set<uint32_t> rows;
  for (HostId row : graph.calls) {
    while (row.valid() && file.trace.host().ts_ns[row.value] >= graph.begin_ns &&
           rows.insert(row.value).second) {
      row = file.index.tree.parent[row.value];
    }
  }
  return {rows.begin(), rows.end()};
}

uint32_t CapturedRows::AddDetail(const Trace& from, uint32_t detail, bool has_arguments) {
  const auto text = [&](StringId id) { return Text(from, id); };
  const uint32_t row = CopyRow(from.ops(), detail, text, data_.ops);
  Ops& ops = data_.ops;
  ops.external_id[row] = kMissing;
  ops.record_function_id[row] = kMissing;
  if (!has_arguments) {
    for (auto* column :
         {&ops.input_dims, &ops.input_types, &ops.input_strides, &ops.concrete_inputs}) {
      (*column)[row] = StringId{0};
    }
  }
  if (ops.collective[row] != kNoDetail) {
    ops.collective[row] = CopyRow(from.collectives(), ops.collective[row], text, data_.collectives);
  }
  if (ops.triton[row] != kNoDetail) {
    ops.triton[row] = CopyRow(from.triton(), ops.triton[row], text, data_.triton);
  }
  return row;
}

HostId CapturedRows::AddRow(const Trace& from, uint32_t row, bool has_arguments, TrackId track) {
  HostEvents& host = data_.host;
  const HostKind kind = from.host().kind[row];
  const uint32_t detail = from.host().detail[row];
  const bool has_detail =
      (kind == HostKind::kOp || kind == HostKind::kAnnotation) && detail != kNoDetail;
  host.ts_ns.push_back(0);
  host.dur_ns.push_back(0);
  host.name.push_back(Text(from, from.host().name[row]));
  host.track.push_back(track);
  host.kind.push_back(kind);
  host.detail.push_back(has_detail ? AddDetail(from, detail, has_arguments) : kNoDetail);
  if (!host.position.empty()) host.position.push_back(kNoPosition);
  ++host.captured;
  return HostId{static_cast<uint32_t>(host.all_size() - 1)};
}

const std::vector<HostId>& CapturedRows::Add(const CapturedGraph& graph, uint32_t number,
                                             bool has_arguments, TrackId track) {
  const auto [place, is_new] = added_.try_emplace({number, has_arguments});
  std::vector<HostId>& calls = place->second;
  if (!is_new) return calls;
  const CaptureFile& file = files_[graph.file];
  std::map<uint32_t, HostId> row_of;
  for (const uint32_t row : RowsOf(graph)) {
    const HostId around = file.index.tree.parent[row];
    const auto parent = around.valid() ? row_of.find(around.value) : row_of.end();
    row_of[row] = AddRow(file.trace, row, has_arguments, track);
    data_.captured.parent.push_back(parent == row_of.end() ? HostId{} : parent->second);
  }
  for (const HostId call : graph.calls) {
    calls.push_back(row_of.at(call.value));
  }
  return calls;
}

namespace {

Result<GraphLaunches> LaunchesOf(const Trace& trace, const TraceIndex& index) {
  const RankView view{0, trace, index, 1};
  if (!HasGraphs(view)) return GraphLaunches{};
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  return FindGraphLaunches(view, everything);
}

std::vector<DeviceId> KernelsOf(const Trace& trace, std::span<const DeviceId> works) {
  std::vector<DeviceId> kernels;
  std::copy_if(works.begin(), works.end(), std::back_inserter(kernels),
               [&](DeviceId id) { return trace.device().kind[id.value] == DeviceKind::kKernel; });
  return kernels;
}

// What is known of one launch before rows are added.
struct Plan {
  HostId launch;
  std::vector<DeviceId> kernels;
  SequenceMatch match;
};

std::vector<Plan> PlansOf(const Trace& trace, const GraphLaunches& launches,
                          const CapturedGraphs& captured, CommonTexts& texts) {
  CaptureMatcher matcher(captured.sequences);
  std::vector<uint32_t> numbers(trace.strings().size(), kUnknownName);
  std::vector<Plan> plans;
  for (const GraphLaunch& launch : launches.launches) {
    Plan plan{launch.call, KernelsOf(trace, launches.WorksOf(launch)), {}};
    if (!launch.call.valid() || plan.kernels.empty()) continue;
    std::vector<uint32_t> names;
    for (const DeviceId id : plan.kernels) {
      uint32_t& number = numbers[trace.device().name[id.value].value];
      number = number == kUnknownName ? texts.Find(trace.Name(id)) : number;
      names.push_back(number);
    }
    plan.match = matcher.Match(names);
    plans.push_back(std::move(plan));
  }
  return plans;
}

void Attach(const Plan& plan, const CapturedGraphs& captured, std::span<const CaptureFile> files,
            CapturedRows& rows, TraceData& data) {
  const SequenceMatch& match = plan.match;
  CaptureMatch& result = data.captured.matches.emplace_back();
  result.launch = plan.launch;
  result.fit = match.fit;
  result.kernels = static_cast<uint32_t>(plan.kernels.size());
  result.file = data.strings.Intern("");
  if (match.fit == CaptureFit::kNone) return;
  const CapturedGraph& graph = captured.graphs[match.capture];
  result.has_arguments = match.has_arguments;
  result.file = data.strings.Intern(files[graph.file].name);
  result.capture = graph.number;
  result.tied = static_cast<uint32_t>(match.pairs.size());
  const std::vector<HostId>& calls =
      rows.Add(graph, match.capture, match.has_arguments, data.host.track[plan.launch.value]);
  for (const auto& [kernel, call] : match.pairs) {
    data.captured.call_of[plan.kernels[kernel].value] = calls[call];
  }
}

}  // namespace

Result<bool> ReplaysGraphs(const Trace& trace, const TraceIndex& index) {
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  return std::any_of(launches.works.begin(), launches.works.end(), [&](DeviceId id) {
    return trace.device().kind[id.value] == DeviceKind::kKernel;
  });
}

Result<bool> CapturesGraphs(const Trace& trace, const TraceIndex& index) {
  const RankView view{0, trace, index, 1};
  if (!HasGraphs(view)) return false;
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  const std::vector<GraphCapture> captures = FindGraphCaptures(view, everything);
  return std::any_of(captures.begin(), captures.end(),
                     [](const GraphCapture& capture) { return !capture.calls.empty(); });
}

Result<bool> OnlyCapturesGraphs(const Trace& trace, const TraceIndex& index) {
  BS_ASSIGN(const bool captures, CapturesGraphs(trace, index));
  if (!captures) return false;
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  return launches.works.empty();
}

Result<Trace> AttachCaptures(Trace trace, const TraceIndex& index,
                             std::span<const CaptureFile> files) {
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  if (launches.launches.empty()) return trace;
  CommonTexts texts;
  BS_ASSIGN(const CapturedGraphs captured, FindCapturedGraphs(files, texts));
  const std::vector<Plan> plans = PlansOf(trace, launches, captured, texts);
  TraceData data = std::move(trace).Take();
  data.captured.call_of.resize(data.device.size());
  CapturedRows rows(data, files);
  for (const Plan& plan : plans) {
    Attach(plan, captured, files, rows, data);
  }
  return Trace(std::move(data));
}

namespace {

HostId OperatorAround(const CaptureFile& file, HostId row) {
  while (row.valid() && file.trace.host().kind[row.value] != HostKind::kOp) {
    row = file.index.tree.parent[row.value];
  }
  return row;
}

std::string_view ShapesOf(const Trace& trace, HostId op) {
  const uint32_t detail = trace.host().detail[op.value];
  return detail == kNoDetail ? std::string_view() : trace.Text(trace.ops().input_dims[detail]);
}

std::string_view TypesOf(const Trace& trace, HostId op) {
  const uint32_t detail = trace.host().detail[op.value];
  return detail == kNoDetail ? std::string_view() : trace.Text(trace.ops().input_types[detail]);
}

CapturedSequence SequenceOf(const CaptureFile& file, std::span<const HostId> calls,
                            std::span<const uint32_t> names, CommonTexts& texts) {
  CapturedSequence sequence;
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool is_known = names[i] != kUnknownName;
    sequence.names.push_back(is_known ? texts.Find(file.trace.Text(StringId{names[i]}))
                                      : kUnknownName);
    const HostId op = OperatorAround(file, calls[i]);
    sequence.operators.push_back(op.valid() ? texts.Find(file.trace.Name(op)) : kUnknownName);
    sequence.arguments.push_back(op.valid() ? texts.Find(ShapesOf(file.trace, op)) : kUnknownName);
    sequence.arguments.push_back(op.valid() ? texts.Find(TypesOf(file.trace, op)) : kUnknownName);
  }
  return sequence;
}

}  // namespace

Result<CapturedGraphs> FindCapturedGraphs(std::span<const CaptureFile> files, CommonTexts& texts) {
  CapturedGraphs found;
  for (uint32_t number = 0; number < files.size(); ++number) {
    const CaptureFile& file = files[number];
    const RankView view{0, file.trace, file.index, 1};
    BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
    std::vector<std::vector<HostId>> calls;
    for (GraphCapture& capture : FindGraphCaptures(view, everything)) {
      if (capture.capture_ns == kMissing) continue;
      std::erase_if(capture.calls, [&](HostId call) { return IsCopyName(file.trace.Name(call)); });
      const auto place = static_cast<uint32_t>(calls.size());
      found.graphs.push_back({number, place, capture.begin_ns, capture.calls});
      calls.push_back(std::move(capture.calls));
    }
    const std::vector<std::vector<uint32_t>> names = NamesOfCaptured(view, calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      found.sequences.push_back(SequenceOf(file, calls[i], names[i], texts));
    }
  }
  return found;
}

}  // namespace borescope::internal
