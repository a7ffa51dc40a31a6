// breakdown: where the time of each GPU goes. The span of a row is the whole recording, or the
// selected windows, or one step (--by step); it splits exactly into
//   compute + exposed communication + exposed copies + idle
// as defined in device_time.h. Nothing is left out for lack of a link to the host. For several
// ranks a second table says how far they lie apart; not with --by, as a step or stream of one rank
// is not the measure of another's.

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/rank_groups.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

struct BreakdownRow : TimeSplit {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> stream = {};
  int64_t inherited_ns = 0;
  double busy_share = 0;

  static constexpr TableNames kTable{"breakdown", "Where the device time goes"};
  static constexpr ColumnOf<BreakdownRow> kColumns[] = {
      {"rank", &BreakdownRow::rank, Role::kKey, kRankDoc},
      {"step", &BreakdownRow::step, Role::kKey, kStepOrNoneDoc},
      {"gpu", &BreakdownRow::gpu, Role::kKey, kGpuOrNoneDoc},
      {"stream", &BreakdownRow::stream, Role::kKey, kStreamDoc},
      {"span_ns", &BreakdownRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Length of the window: the recording, the selected windows, or the step."},
      {"busy_ns", &BreakdownRow::busy_ns, Unit::kNanoseconds, Role::kSum,
       "Time in which any kernel, memcpy or memset runs (union over streams)."},
      {"compute_ns", &BreakdownRow::compute_ns, Unit::kNanoseconds, Role::kSum,
       "Time in which a kernel computes.", InTone(Tone::kCompute)},
      {"exposed_comm_ns", &BreakdownRow::exposed_comm_ns, Unit::kNanoseconds, Role::kSum,
       "Communication with no compute beside it.", InTone(Tone::kComm)},
      {"exposed_copy_ns", &BreakdownRow::exposed_copy_ns, Unit::kNanoseconds, Role::kSum,
       "Copies with neither compute nor communication beside them.", InTone(Tone::kCopy)},
      {"idle_ns", &BreakdownRow::idle_ns, Unit::kNanoseconds, Role::kSum,
       "Span less busy time: nothing runs on the device.", InTone(Tone::kIdle)},
      {"comm_ns", &BreakdownRow::comm_ns, Unit::kNanoseconds, Role::kSum,
       "All communication, hidden or not (union)."},
      {"copy_ns", &BreakdownRow::copy_ns, Unit::kNanoseconds, Role::kSum,
       "All copies, hidden or not (union)."},
      {"head_idle_ns", &BreakdownRow::head_idle_ns, Unit::kNanoseconds, Role::kSum,
       "Part of the idle time before the first device work."},
      {"tail_idle_ns", &BreakdownRow::tail_idle_ns, Unit::kNanoseconds, Role::kSum,
       "Part of the idle time after the last device work."},
      {"inherited_ns", &BreakdownRow::inherited_ns, Unit::kNanoseconds, Role::kSum,
       "Part of the busy time in which work runs that was launched before the recording."},
      {"busy_share", &BreakdownRow::busy_share, Unit::kShare, Role::kDerived, "Busy time / span."}};
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

Result<Tables> MapBreakdown(const RankView& view, const Params& params) {
  const bool by_step = HasKey(params.by, "step");
  const bool by_stream = HasKey(params.by, "stream");
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const PerTrack per = by_stream ? PerTrack::kStream : PerTrack::kGpu;
  const SharedDeviceTimes shared = DeviceTimes(view, selected, per);
  const std::vector<DeviceTime>& times = *shared;
  const std::vector<IntervalSet> inherited = TimesOfInherited(view, selected, times);
  const std::vector<StepWindow> windows = WindowsOf(view, selected, by_step, TracksOfLines(times));
  BS_TRY(CheckRows(view, windows.size(), times.size()));
  std::vector<BreakdownRow> rows;
  for (const StepWindow& window : windows) {
    for (size_t i = 0; i < times.size(); ++i) {
      BreakdownRow& row = rows.emplace_back(
          BreakdownRow{SplitTime(times[i], window.On(i)), view.rank, Recorded(window.step),
                       Recorded(times[i].gpu), Recorded(times[i].stream)});
      row.inherited_ns = inherited.empty() ? 0 : Coverage(Intersect(inherited[i], window.On(i)));
      row.busy_share = ShareOf(row.busy_ns, row.span_ns);
    }
  }
  Table table = MakeTable(rows);
  if (!by_step) DropColumn(table, "step");
  if (!by_stream) DropColumn(table, "stream");
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
