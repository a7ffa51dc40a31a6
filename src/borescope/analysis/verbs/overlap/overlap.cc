// overlap: how much communication hides behind compute, per GPU. Both are unions over the streams
// of the GPU, as in device_time.h:
//
//   comm = overlapped + exposed
//
// exactly; exposed is the exposed communication of the breakdown, in the same windows.

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

Table NewTable(bool by_step) {
  Table table{"overlap", "Communication beside compute", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) -> Column& {
    return AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddRankKey(table);
  if (by_step) {
    AddStepKeyOrNone(table);
  }
  AddGpuKeyOrNone(table);
  ns("comm_ns", "Time in which any communication kernel runs (union over streams).");
  ns("overlapped_ns", "Part of it in which a kernel computes, too.").hints.tone = Tone::kDevice;
  ns("exposed_ns", "Part of it with no compute beside it.").hints.tone = Tone::kComm;
  ns("compute_ns", "Time in which any kernel computes: what could hide communication.");
  AddFloat(table, "overlap_share", Unit::kShare, Role::kDerived,
           "Overlapped / all communication; missing where there is none.");
  return table;
}

Result<Tables> MapOverlap(const RankView& view, const Params& params) {
  const bool by_step = HasKey(params.by, "step");
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  Table table = NewTable(by_step);
  const SharedDeviceTimes shared = DeviceTimes(view, selected, PerTrack::kGpu);
  const std::vector<DeviceTime>& times = *shared;
  const std::vector<StepWindow> windows = WindowsOf(view, selected, by_step, TracksOfLines(times));
  BS_TRY(CheckRows(view, windows.size(), times.size()));
  for (const StepWindow& window : windows) {
    for (size_t i = 0; i < times.size(); ++i) {
      const TimeSplit split = SplitTime(times[i], window.On(i));
      const int64_t overlapped_ns = split.comm_ns - split.exposed_comm_ns;
      Row row(table);
      row.Int(view.rank);
      if (by_step) {
        row.MaybeInt(window.step);
      }
      row.MaybeInt(times[i].gpu).Int(split.comm_ns).Int(overlapped_ns).Int(split.exposed_comm_ns);
      row.Int(split.compute_ns);
      split.comm_ns == 0 ? row.Missing() : row.Share(overlapped_ns, split.comm_ns);
    }
  }
  return Tables{std::move(table)};
}

constexpr std::string_view kStepKey[] = {"step"};
constexpr const ParamSpec* kHtaParams[] = {&kIncludeLastStepParam};
constexpr std::string_view kDevice[] = {"rank", "gpu", "step"};
constexpr std::string_view kOverlapParts[] = {"overlapped_ns", "exposed_ns"};
constexpr ViewSpec kViews[] = {
    {"overlap", ViewKind::kStackedBars, "Communication time", kDevice, kOverlapParts}};

}  // namespace

const AnalysisSpec kOverlapVerb{.name = "overlap",
                                .summary = "how much communication hides behind compute",
                                .example = "borescope overlap run/ --by step",
                                .needs = Needs::kDeviceEvents,
                                .by = kStepKey,
                                .params = kHtaParams,
                                .answer = {.map = MapOverlap, .reduce = ConcatTables},
                                .views = kViews};

}  // namespace borescope::internal
