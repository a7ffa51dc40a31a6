// top: what takes the device's time, kernels, memcpys and memsets alike, by name. Every piece of
// work is counted once, so that the totals add up to all device work; work that runs at one time on
// several streams counts on each. Work from before the recording has no phase and no operator of
// its own; `aligned_ns` has its time once more where those are inferred. `kernels` asks the same of
// kernels alone, with their classes.
#include <utility>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {
namespace {

int64_t KindOf(const RankView& view, DeviceId id) {
  return static_cast<int64_t>(view.trace.device().kind[id.value]);
}

// REQUIRES: the kind is one of device work.
std::string_view KindName(int64_t kind) { return DeviceKindName(static_cast<DeviceKind>(kind)); }

constexpr WorkLabel kKindLabel{"kind",
                               "kernel, memcpy or memset.",
                               "Name of the kernel, memcpy or memset as recorded.",
                               "pieces of device work",
                               KindOf,
                               KindName};

Result<Tables> MapTop(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const GroupKeys keys(view, params.by, params.selection.step_rule);
  WorkGroups work = GroupWork(view, selected, keys, WorkKinds::kAll, kKindLabel);
  const bool has_inferred = HasInferredKey(params.by);
  if (has_inferred) {
    GroupAligned(view, selected, keys, WorkKinds::kAll, kKindLabel, work);
  }
  Table table =
      WorkTable({"top", "What takes the device's time", {}}, view, work, keys, kKindLabel);
  if (has_inferred) {
    PushAligned(table, work);
  }
  return Tables{std::move(table)};
}

Result<Tables> FinishTop(Tables findings, const Params&) {
  findings[0] = FinishStatsTable(std::move(findings[0]));
  return findings;
}

constexpr std::string_view kKernelKeys[] = {"rank", "step", "gpu", "stream", "phase", "op"};
constexpr std::string_view kAligned[] = {"aligned_ns"};
constexpr ViewSpec kViews[] = {
    {"top", ViewKind::kAside, "Work from before the recording", {}, kAligned}};

}  // namespace

const AnalysisSpec kTopVerb{
    .name = "top",
    .summary = "what takes the device's time: kernels, memcpys and memsets by name",
    .example = "borescope top run/ --top 10",
    .needs = Needs::kDeviceEvents,
    .by = kKernelKeys,
    .answer = {.map = MapTop, .reduce = MergeTables, .finish = FinishTop},
    .views = kViews,
    .in_report = false};

}  // namespace borescope::internal
