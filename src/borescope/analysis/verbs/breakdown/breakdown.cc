// breakdown: where the time of each GPU goes. The span of a row is the whole recording, or the
// selected windows, or one step (--by step); it splits exactly into
//   compute + exposed communication + exposed copies + idle
// as defined in device_time.h. Nothing is left out for lack of a link to the host. For several
// ranks a second table says how far they lie apart; not with --by, as a step or stream of one rank
// is not the measure of another's.
#include <string>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/rank_groups.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

struct Keys {
  bool step;
  bool stream;
};

Table NewTable(Keys keys) {
  Table table{"breakdown", "Where the device time goes", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) -> Column& {
    return AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddRankKey(table);
  if (keys.step) {
    AddStepKeyOrNone(table);
  }
  AddGpuKeyOrNone(table);
  if (keys.stream) {
    AddStreamKey(table);
  }
  ns("span_ns", "Length of the window: the recording, the selected windows, or the step.");
  ns("busy_ns", "Time in which any kernel, memcpy or memset runs (union over streams).");
  ns("compute_ns", "Time in which a kernel computes.").hints.tone = Tone::kCompute;
  ns("exposed_comm_ns", "Communication with no compute beside it.").hints.tone = Tone::kComm;
  ns("exposed_copy_ns", "Copies with neither compute nor communication beside them.").hints.tone =
      Tone::kCopy;
  ns("idle_ns", "Span less busy time: nothing runs on the device.").hints.tone = Tone::kIdle;
  ns("comm_ns", "All communication, hidden or not (union).");
  ns("copy_ns", "All copies, hidden or not (union).");
  ns("head_idle_ns", "Part of the idle time before the first device work.");
  ns("tail_idle_ns", "Part of the idle time after the last device work.");
  ns("inherited_ns",
     "Part of the busy time in which work runs that was launched before the recording.");
  AddFloat(table, "busy_share", Unit::kShare, Role::kDerived, "Busy time / span.");
  return table;
}

struct Label {
  int64_t rank;
  int64_t step;
};

// Per device or stream, when work ran that was launched before the recording; empty where there is
// none of any.
std::vector<IntervalSet> TimesOfInherited(const RankView& view, const Selected& selected,
                                          const std::vector<DeviceTime>& times) {
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  if (inherited->devices.empty()) {
    return {};
  }
  const DeviceEvents& device = view.trace.device();
  std::vector<std::vector<Interval>> of_track(view.trace.tracks().size());
  for (const DeviceId id : inherited->Rows()) {
    if (selected.Keeps(id)) {
      of_track[device.track[id.value].value].push_back({device.ts_ns[id.value], device.end_ns(id)});
    }
  }
  std::vector<IntervalSet> sets;
  for (const DeviceTime& time : times) {
    std::vector<Interval> works;
    for (const uint32_t track : time.tracks) {
      works.insert(works.end(), of_track[track].begin(), of_track[track].end());
    }
    sets.push_back(Union(std::move(works)));
  }
  return sets;
}

void PushRow(Table& table, Keys keys, Label label, const DeviceTime& time,
             const IntervalSet& windows, int64_t inherited_ns) {
  const TimeSplit split = SplitTime(time, windows);
  Row row(table);
  row.Int(label.rank);
  if (keys.step) {
    row.MaybeInt(label.step);
  }
  row.MaybeInt(time.gpu);
  if (keys.stream) {
    row.MaybeInt(time.stream);
  }
  row.Int(split.span_ns).Int(split.busy_ns).Int(split.compute_ns).Int(split.exposed_comm_ns);
  row.Int(split.exposed_copy_ns).Int(split.idle_ns).Int(split.comm_ns).Int(split.copy_ns);
  row.Int(split.head_idle_ns).Int(split.tail_idle_ns).Int(inherited_ns);
  row.Share(split.busy_ns, split.span_ns);
}

Result<Tables> MapBreakdown(const RankView& view, const Params& params) {
  const Keys keys{HasKey(params.by, "step"), HasKey(params.by, "stream")};
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  Table table = NewTable(keys);
  const PerTrack per = keys.stream ? PerTrack::kStream : PerTrack::kGpu;
  const SharedDeviceTimes shared = DeviceTimes(view, selected, per);
  const std::vector<DeviceTime>& times = *shared;
  const std::vector<IntervalSet> inherited = TimesOfInherited(view, selected, times);
  const std::vector<StepWindow> windows =
      WindowsOf(view, selected, keys.step, TracksOfLines(times));
  BS_TRY(CheckRows(view, windows.size(), times.size()));
  for (const StepWindow& window : windows) {
    for (size_t i = 0; i < times.size(); ++i) {
      const int64_t inherited_ns =
          inherited.empty() ? 0 : Coverage(Intersect(inherited[i], window.On(i)));
      PushRow(table, keys, {view.rank, window.step}, times[i], window.On(i), inherited_ns);
    }
  }
  return Tables{std::move(table)};
}

Result<Tables> FinishBreakdown(Tables findings, const Params& params) {
  if (params.by.empty()) {
    Table spread = BreakdownSpread(findings[0]);
    Table groups = RankGroups(findings[0]);
    for (Table* table : {&groups, &spread}) {
      if (table->rows() > 0) {
        findings.push_back(std::move(*table));
      }
    }
  }
  return findings;
}

constexpr std::string_view kBreakdownKeys[] = {"step", "stream"};
constexpr const ParamSpec* kHtaParams[] = {&kIncludeLastStepParam};
constexpr std::string_view kDevice[] = {"rank", "gpu", "step"};
constexpr std::string_view kGroup[] = {"members"};
constexpr std::string_view kBreakdownParts[] = {"compute_ns", "exposed_comm_ns", "exposed_copy_ns",
                                                "idle_ns"};
constexpr std::string_view kInherited[] = {"inherited_ns"};
constexpr ViewSpec kViews[] = {
    {"rank_groups", ViewKind::kStackedBars, "Device time by groups of ranks", kGroup,
     kBreakdownParts},
    {"breakdown", ViewKind::kStackedBars, "Device time", kDevice, kBreakdownParts},
    {"breakdown", ViewKind::kAside, "Work from before the recording", {}, kInherited}};

}  // namespace

const AnalysisSpec kBreakdownVerb{
    .name = "breakdown",
    .summary = "compute, exposed communication, exposed copies and idle time per device",
    .example = "borescope breakdown run/ --by step",
    .needs = Needs::kDeviceEvents,
    .by = kBreakdownKeys,
    .params = kHtaParams,
    .answer = {.map = MapOnce<MapBreakdown>, .reduce = ConcatTables, .finish = FinishBreakdown},
    .views = kViews};

}  // namespace borescope::internal
