#include "borescope/packs/inductor/compiled_graphs.h"

#include <algorithm>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kCall = "## Call CompiledFxGraph ";
constexpr std::string_view kRegion = "Torch-Compiled Region";

}  // namespace

std::string_view CompiledGraphOf(std::string_view range) {
  if (range.starts_with(kRegion)) return range;
  if (!range.starts_with(kCall)) return {};
  range.remove_prefix(kCall.size());
  return range.substr(0, range.find(' '));
}

CompiledGraphs::CompiledGraphs(const RankView& view)
    : view_(view), range_of_(view.trace.host().all_size()) {
  const HostEvents& host = view.trace.host();
  for (uint32_t row = 0; row < host.all_size(); ++row) {
    CheckStopAt(row);
    const HostId outer = view.index.tree.parent[row];
    if (outer.valid()) range_of_[row] = range_of_[outer.value];
    const bool is_range =
        host.kind[row] == HostKind::kAnnotation || host.kind[row] == HostKind::kOp;
    if (!is_range || CompiledGraphOf(view.trace.Name(HostId{row})).empty()) continue;
    const HostId known = range_of_[row];
    const bool is_region = view.trace.Name(HostId{row}).starts_with(kRegion);
    const bool is_inside_call = known.valid() && view.trace.Name(known).starts_with(kCall);
    if (!is_region || !is_inside_call) range_of_[row] = HostId{row};
  }
}

std::string_view CompiledGraphs::Of(DeviceId id) const {
  const Correlation& links = view_.index.correlation;
  const HostId captured = links.CapturedCallOf(id);
  const HostId launch = links.launch_of[id.value];
  const HostId anchor = launch.valid() ? launch : links.op_of[id.value];
  HostId range = captured.valid() ? range_of_[captured.value] : HostId{};
  if (!range.valid() && anchor.valid()) range = range_of_[anchor.value];
  return range.valid() ? CompiledGraphOf(view_.trace.Name(range)) : std::string_view();
}

}  // namespace borescope::internal
