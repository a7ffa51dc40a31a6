#include "borescope/packs/pyprof/marker_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/base/check.h"
#include "borescope/base/each_row.h"
#include "borescope/base/text/text.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kModelled = "modelled";
constexpr std::string_view kHelper = "helper";
constexpr std::string_view kNoModel = "no model";

int64_t PartOf(uint64_t whole, size_t index, size_t count) {
  const uint64_t part = whole / count + (index < whole % count ? 1 : 0);
  const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(part, most));
}

// A product of matrices, or a convolution: each gradient of it costs as much as forward.
bool HasGradientCost(OpFamily family) {
  return family == OpFamily::kGemm || family == OpFamily::kConvolution;
}

}  // namespace

WorkShare ShareOfCost(const OpCost& cost, size_t index, size_t count) {
  BS_CHECK(count > 0);
  if (cost.status == CostStatus::kBytesOnly) {
    return {.bytes = PartOf(cost.bytes(), index, count), .status = CostStatusName(cost.status)};
  }
  if (!KnowsFlops(cost.status)) return {.status = CostStatusName(cost.status)};
  WorkShare share{.flops = PartOf(cost.main_flops(), index, count),
                  .bytes = PartOf(cost.bytes(), index, count),
                  .status = kModelled};
  if (cost.status == CostStatus::kUnknownType) {
    share.bytes.reset();
    share.status = CostStatusName(cost.status);
  }
  return share;
}

HostId MarkerWork::Choose(const std::vector<HostId>& ranges) {
  HostId innermost;
  HostId modelled;
  for (size_t i = ranges.size(); i-- > 0;) {
    if (view_.trace.host().kind[ranges[i].value] != HostKind::kAnnotation) continue;
    const PyProfMarker& marker = markers_.Of(ranges[i]);
    if (marker.kind != MarkerKind::kArguments) continue;
    if (!innermost.valid()) innermost = ranges[i];
    const CostStatus status = CostOf(ranges[i]).status;
    if (status == CostStatus::kUnknownOp) continue;
    if (KnowsFlops(status)) return ranges[i];
    if (!modelled.valid()) modelled = ranges[i];
  }
  return modelled.valid() ? modelled : innermost;
}

void MarkerWork::Add(DeviceId kernel, HostId owner, HostId arguments, bool is_backward) {
  Call& call = calls_[owner.value];
  call.arguments = arguments;
  call.is_backward = is_backward;
  call.kernels.push_back(kernel);
}

const OpCost& MarkerWork::CostOf(HostId arguments) {
  const StringId text = view_.trace.host().name[arguments.value];
  const auto [found, is_new] = costs_.try_emplace(text.value);
  if (is_new) {
    found->second = CostOfCall(markers_.Of(arguments).call, options_);
  }
  return found->second;
}

bool MarkerWork::IsMatrix(const Call& call) {
  return IsMatrixFamily(CostOf(call.arguments).family);
}

// The kernels of a call for which `is_main` is true, in row order.
template <class IsMain>
std::vector<DeviceId> Filtered(const std::vector<DeviceId>& kernels, const IsMain& is_main) {
  std::vector<DeviceId> mains;
  std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(mains), is_main);
  std::sort(mains.begin(), mains.end());
  return mains;
}

void MarkerWork::FindMainKernels(Call& call) {
  if (IsMatrix(call)) {
    call.mains = Filtered(call.kernels, [&](DeviceId id) {
      return MatrixUseOf(view_.trace.Name(id), false) != MatrixUse::kNotMatrix;
    });
  }
  if (!call.mains.empty()) return;
  const DeviceEvents& device = view_.trace.device();
  const DeviceId longest = *std::max_element(
      call.kernels.begin(), call.kernels.end(),
      [&](DeviceId a, DeviceId b) { return device.dur_ns[a.value] < device.dur_ns[b.value]; });
  call.mains = Filtered(call.kernels, [&](DeviceId id) {
    return device.name[id.value] == device.name[longest.value];
  });
}

WorkShare MarkerWork::BackwardShare(const Call& call, size_t index) {
  OpCost cost = CostOf(call.arguments);
  if (KnowsFlops(cost.status) && !HasGradientCost(cost.family)) return {.status = kNoModel};
  cost.vector_flops = 0;
  // Two kernels compute a gradient each; more kernels share both gradients.
  const size_t mains = call.mains.size();
  if (mains <= 2) return ShareOfCost(cost, 0, 1);
  cost.matrix_flops = (Quantity(cost.matrix_flops) * 2).value();
  cost.read_bytes = (Quantity(cost.read_bytes) * 2).value();
  cost.written_bytes = (Quantity(cost.written_bytes) * 2).value();
  return ShareOfCost(cost, index, mains);
}

WorkShare MarkerWork::ShareOf(DeviceId kernel, HostId owner) {
  Call& call = calls_[owner.value];
  if (call.mains.empty()) FindMainKernels(call);
  const auto main = std::lower_bound(call.mains.begin(), call.mains.end(), kernel);
  const bool is_main = main != call.mains.end() && *main == kernel;
  const auto index = static_cast<size_t>(main - call.mains.begin());
  WorkShare share = call.is_backward
                        ? BackwardShare(call, index)
                        : ShareOfCost(CostOf(call.arguments), index, call.mains.size());
  if (!is_main && share.flops.has_value()) {
    share = {.flops = 0, .bytes = 0, .status = kHelper};
  }
  return share;
}

MatrixUse MarkerWork::UseOf(DeviceId kernel, HostId owner) {
  Call& call = calls_[owner.value];
  if (call.mains.empty()) FindMainKernels(call);
  const bool is_main = std::binary_search(call.mains.begin(), call.mains.end(), kernel);
  return MatrixUseOf(view_.trace.Name(kernel), is_main && IsMatrix(call));
}

namespace {

constexpr size_t kDeepest = 512;

bool IsRange(HostKind kind) {
  return kind == HostKind::kAnnotation || kind == HostKind::kOp || kind == HostKind::kPython;
}

void Delete(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

}  // namespace

std::vector<DeviceId> LaunchOrder(const RankView& view, const Selected& selected,
                                  bool with_copies) {
  const DeviceEvents& device = view.trace.device();
  std::vector<DeviceId> order;
  for (uint32_t row = 0; row < device.size(); ++row) {
    const bool is_listed = with_copies || device.kind[row] == DeviceKind::kKernel;
    if (is_listed && selected.Keeps(DeviceId{row})) order.push_back(DeviceId{row});
  }
  std::sort(order.begin(), order.end(), [&](DeviceId a, DeviceId b) {
    return std::pair(RequestTime(view, a), a) < std::pair(RequestTime(view, b), b);
  });
  return order;
}

// Rows come after the rows around them, captured ones too.
RangesAround::RangesAround(const RankView& view)
    : tree_(view.index.tree), innermost_(view.index.tree.parent.size()) {
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(innermost_.size())) {
    const HostId parent = tree_.parent[row];
    innermost_[row] = IsRange(host.kind[row]) ? HostId{row}
                      : parent.valid()        ? innermost_[parent.value]
                                              : HostId{};
  }
}

std::vector<HostId> RangesAround::Of(HostId row) const {
  std::vector<HostId> ranges;
  while (row.valid() && innermost_[row.value].valid() && ranges.size() < kDeepest) {
    ranges.push_back(innermost_[row.value]);
    row = tree_.parent[ranges.back().value];
  }
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

HostId AnchorOf(const RankView& view, DeviceId id) {
  const HostId launch = view.index.correlation.launch_of[id.value];
  return launch.valid() ? launch : view.index.correlation.op_of[id.value];
}

bool IsBackwardNode(std::string_view name) {
  if (Contains(name, "evaluate_function") || name.ends_with("AccumulateGrad")) {
    return true;
  }
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name.substr(0, end + 1).ends_with("Backward");
}

int64_t SequenceOf(const Trace& trace, HostId row) {
  const uint32_t detail = trace.host().detail[row.value];
  const bool is_op = trace.host().kind[row.value] == HostKind::kOp && detail != kNoDetail;
  return is_op ? int64_t{trace.ops().sequence[detail]} : kMissing;
}

ForwardOperators::Key ForwardOperators::KeyOf(HostId row) const {
  const int64_t process = trace_.tracks().pid[trace_.host().track[row.value].value];
  return {process, SequenceOf(trace_, row)};
}

ForwardOperators::ForwardOperators(const Trace& trace) : trace_(trace) {
  const HostEvents& host = trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (SequenceOf(trace, HostId{row}) > 0 && !IsBackwardNode(trace.Name(HostId{row}))) {
      rows_[KeyOf(HostId{row})].push_back(HostId{row});
    }
  }
  for (auto& [key, rows] : rows_) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  }
}

HostId ForwardOperators::Find(HostId backward) const {
  const auto found = rows_.find(KeyOf(backward));
  if (found == rows_.end()) return {};
  const HostEvents& host = trace_.host();
  const std::vector<HostId>& rows = found->second;
  const auto after = std::partition_point(rows.begin(), rows.end(), [&](HostId row) {
    return host.ts_ns[row.value] < host.ts_ns[backward.value];
  });
  return after == rows.begin() ? HostId{} : *(after - 1);
}

std::string PyProfShortName(std::string_view kernel) {
  std::string name(kernel.substr(0, kernel.find('<')));
  for (const std::string_view part :
       {"void ", "at::", "cuda::", "native::", "(anonymous namespace)::"}) {
    Delete(name, part);
  }
  return name.substr(0, name.find('('));
}

std::string FrameText(std::string_view frame) {
  const size_t close = frame.find("): ");
  const size_t open = frame.rfind('(', close);
  const bool is_line = close != std::string_view::npos && open != std::string_view::npos;
  if (!is_line || open == 0 || open + 1 == close) return {};
  const std::string_view line = frame.substr(open + 1, close - open - 1);
  if (line.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return fmt::format("{}:{}", frame.substr(0, open), line);
}

}  // namespace borescope::internal
