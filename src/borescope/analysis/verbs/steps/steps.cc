// steps: each step on each device. On the host a step is a window; on a device it is the work that
// belongs to it by --step-rule:
//
//   launch   the work launched in the window, wherever it runs: device_begin and device_end are the
//            first begin and the last end of it, busy its union, shared the part of busy in which
//            work of an earlier step runs, too
//   time     the window again, and whatever runs inside
//
// Its length is from completion to completion (step_times.h): the host that runs ahead of a device
// makes windows of any size, and steps as long as those of the device.
//
// Steps before the recording, of which only the work that devices still had to do is there, are in
// `inherited_steps`: what compares or sums steps has nothing to do with them.
//
// In every row device_span = busy + idle. Over the rows of a device, those without a step included,
// busy less shared adds up to the busy time of the device, and kernels and copies to all of them.
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/analysis/verbs/steps/step_groups.h"
#include "borescope/analysis/verbs/steps/step_heat.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

struct StepOnDeviceRow {
  int64_t rank = 0;
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> step = {};
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> span_ns = {};
  std::optional<int64_t> length_ns = {};
  std::optional<int64_t> busy_ns = {};
  std::optional<int64_t> idle_ns = {};
  int64_t kernels = 0;
  int64_t copies = 0;
  std::optional<int64_t> device_begin_ns = {};
  std::optional<int64_t> device_end_ns = {};
  std::optional<int64_t> device_span_ns = {};
  std::optional<int64_t> shared_ns = {};
  std::optional<int64_t> waiting_ns = {};
  std::optional<int64_t> end_ns = {};
  std::string_view name = {};
  std::optional<int64_t> process = {};

  static constexpr TableNames kTable{"steps", "Steps on each device"};
  static constexpr ColumnOf<StepOnDeviceRow> kColumns[] = {
      {"rank", &StepOnDeviceRow::rank, Role::kKey, kRankDoc},
      {"gpu", &StepOnDeviceRow::gpu, Role::kKey, kGpuOrNoneDoc},
      {"step", &StepOnDeviceRow::step, Role::kKey, kStepOrNoneDoc},
      {"begin_ns", &StepOnDeviceRow::begin_ns, Unit::kNanoseconds, Role::kMin,
       "Begin of the step on the host, on the file's own clock."},
      {"span_ns", &StepOnDeviceRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Length of the step on the host, less time in a step of its process that begins later."},
      {"length_ns", &StepOnDeviceRow::length_ns, Unit::kNanoseconds, Role::kSum,
       "From the completion of the step before, or the begin of this one if that is later, to its "
       "own completion: when its window on the host and all work that it launched have ended; "
       "whatever is selected."},
      {"busy_ns", &StepOnDeviceRow::busy_ns, Unit::kNanoseconds, Role::kSum,
       "Time in which work of the step runs (union); with --step-rule time: in which any work runs "
       "inside the step."},
      {"idle_ns", &StepOnDeviceRow::idle_ns, Unit::kNanoseconds, Role::kSum,
       "Device span less busy time; work of other steps may run then (not with --step-rule time).",
       InTone(Tone::kIdle)},
      {"kernels", &StepOnDeviceRow::kernels, Unit::kCount, Role::kSum,
       "Selected kernels of the step."},
      {"copies", &StepOnDeviceRow::copies, Unit::kCount, Role::kSum,
       "Selected memcpys and memsets of the step."},
      {"device_begin_ns", &StepOnDeviceRow::device_begin_ns, Unit::kNanoseconds, Role::kMin,
       "First begin of its work on the device; missing if there is none. With --step-rule time: "
       "begin of its selected time."},
      {"device_end_ns", &StepOnDeviceRow::device_end_ns, Unit::kNanoseconds, Role::kMax,
       "Last end of its work, or of its selected time."},
      {"device_span_ns", &StepOnDeviceRow::device_span_ns, Unit::kNanoseconds, Role::kSum,
       "From device begin to device end; with --step-rule time: the time of the step in between."},
      {"shared_ns", &StepOnDeviceRow::shared_ns, Unit::kNanoseconds, Role::kSum,
       "Part of the busy time in which work of an earlier step runs, too; busy less shared adds up "
       "to the busy time of the device."},
      {"waiting_ns", &StepOnDeviceRow::waiting_ns, Unit::kNanoseconds, Role::kSum,
       "Length less busy time: the rest of the step, in which the device does nothing of it; 0 "
       "where its work began so long before the completion of the step before that it is busy for "
       "longer. With --step-rule time as the idle time.",
       InTone(Tone::kIdle)},
      {"end_ns", &StepOnDeviceRow::end_ns, Unit::kNanoseconds, Role::kMax,
       "Completion of the step, on the file's own clock."},
      {"name", &StepOnDeviceRow::name, Role::kKey,
       "Name of its annotation, with the process if several have steps; (no step): launched "
       "outside of steps; (no launch): the launch was not recorded."},
      // Whose step it is, where several processes of the rank have steps: what groups steps reads
      // it, people read the name.
      Carried<StepOnDeviceRow>({"process", &StepOnDeviceRow::process, Role::kKey,
                                "The process of the step, where several have steps."})};
};

// One device, or none.
struct Line {
  int64_t rank;
  int64_t gpu;
  bool has_device;
  StepRule rule;
};

// The part of a step in which a device does nothing of it.
int64_t WaitingOf(const HostWindow& host, const DeviceStep& step, StepRule rule) {
  if (rule == StepRule::kTime) {
    return step.span_ns - step.busy_ns;
  }
  return host.length_ns == kMissing ? kMissing
                                    : host.length_ns - std::min(host.length_ns, step.busy_ns);
}

StepOnDeviceRow RowOf(const Line& line, const StepGroup& group, const HostWindow& host,
                      const DeviceStep& step) {
  StepOnDeviceRow row{.rank = line.rank,
                      .gpu = Recorded(line.gpu),
                      .step = Recorded(group.number),
                      .begin_ns = Recorded(host.begin_ns),
                      .span_ns = Recorded(host.span_ns),
                      .length_ns = Recorded(host.length_ns),
                      .kernels = step.kernels,
                      .copies = step.copies,
                      .device_begin_ns = Recorded(step.begin_ns),
                      .device_end_ns = Recorded(step.end_ns),
                      .end_ns = Recorded(host.end_ns),
                      .name = group.name,
                      .process = Recorded(group.process)};
  if (line.has_device) {
    row.busy_ns = step.busy_ns;
    row.idle_ns = step.span_ns - step.busy_ns;
    row.device_span_ns = step.span_ns;
    row.shared_ns = step.shared_ns;
    row.waiting_ns = Recorded(WaitingOf(host, step, line.rule));
  }
  return row;
}

// The rows of steps: of each device that its process may use; if there is none, one without.
void PushStep(RowWriter<StepOnDeviceRow>& rows, const RankView& view, const StepGroups& groups,
              size_t group, std::span<const DeviceTime> times,
              const std::vector<std::vector<DeviceStep>>& on_devices) {
  const HostWindow& host = groups.HostWindowOf(group);
  bool has_device = false;
  bool is_shown = host.span_ns > 0;
  for (size_t i = 0; i < times.size(); ++i) {
    has_device = has_device || groups.MayUse(group, times[i].tracks);
    is_shown = is_shown || on_devices[i][group].has_time();
  }
  for (size_t i = 0; i < times.size() && is_shown; ++i) {
    if (groups.MayUse(group, times[i].tracks)) {
      rows.Push(RowOf({view.rank, times[i].gpu, true, groups.rule()}, groups[group], host,
                      on_devices[i][group]));
    }
  }
  if (!has_device && is_shown) {
    rows.Push(RowOf({view.rank, kMissing, false, groups.rule()}, groups[group], host, {}));
  }
}

bool AsksForTrueTime(const Params& params) {
  return params.Flag(kWithoutRecordingParam) || !params.Text(kPlainStepParam).empty();
}

Result<Tables> MapSteps(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  if (view.steps().steps.empty()) {
    return Tables{NewTable<StepOnDeviceRow>(), EmptyTrueTimeTable(),
                  InheritedSteps(view, selected)};  // in a summary
  }
  const StepGroups groups(view, selected);
  const SharedDeviceTimes shared = DeviceTimes(view, selected, PerTrack::kGpu);
  const bool has_work = !shared->empty() && !shared->front().tracks.empty();
  const std::span<const DeviceTime> times(shared->data(), has_work ? shared->size() : 0);
  BS_TRY(CheckRows(view, groups.size(), times.size()));
  std::vector<std::vector<DeviceStep>> on_devices;
  on_devices.reserve(times.size());
  for (const DeviceTime& time : times) {
    on_devices.push_back(DeviceStepsOf(view, selected, groups, time));
  }
  Table table = NewTable<StepOnDeviceRow>();
  RowWriter<StepOnDeviceRow> rows(table);
  for (size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].number != kMissing) {
      PushStep(rows, view, groups, group, times, on_devices);
      continue;
    }
    for (size_t i = 0; i < times.size(); ++i) {
      if (on_devices[i][group].has_time()) {
        rows.Push(RowOf({view.rank, times[i].gpu, true, groups.rule()}, groups[group], {},
                        on_devices[i][group]));
      }
    }
  }
  Tables tables;
  tables.push_back(std::move(table));
  Table true_time = EmptyTrueTimeTable();
  if (AsksForTrueTime(params)) {
    BS_ASSIGN(true_time, TrueTimeTable(view, params));
  }
  tables.push_back(std::move(true_time));
  tables.push_back(InheritedSteps(view, selected));
  return tables;
}

Result<void> CheckSteps(const Params& params) {
  return AsksForTrueTime(params) ? CheckTrueTimeParams("steps", params) : Result<void>();
}

Result<Tables> FinishSteps(Tables findings, const Params& params) {
  std::erase_if(findings, [&](const Table& table) {
    const bool is_asked = table.name != "true_time" || AsksForTrueTime(params);
    return table.rows() == 0 && table.name != "steps" && !(params.keeps_empty && is_asked);
  });
  if (Table heat = StepHeat(TableOf<StepOnDeviceRow>(findings)); heat.rows() > 0) {
    findings.push_back(std::move(heat));
  }
  for (Table& table : findings) {
    if (table.name == StepOnDeviceRow::kTable.name) {
      DropCarried<StepOnDeviceRow>(table);
    }
  }
  return findings;
}

MeasureId DearOfSteps(const Params& params) {
  return AsksForTrueTime(params) ? ReplayModelIsDear(params) : nullptr;
}

constexpr const ParamSpec* kStepsParams[] = {&kPlainStepParam, &kWithoutRecordingParam};
constexpr std::string_view kRanks[] = {"ranks"};
constexpr std::string_view kRelative[] = {"relative"};
constexpr std::string_view kDevice[] = {"rank", "gpu", "step", "name"};
constexpr std::string_view kStepParts[] = {"busy_ns", "waiting_ns"};
constexpr ViewSpec kViews[] = {
    {"step_heat", ViewKind::kHeat, "Steps of all ranks, by their length / the median", kRanks,
     kRelative, "step"},
    {"steps", ViewKind::kStackedBars, "Each step, from completion to completion", kDevice,
     kStepParts}};

}  // namespace

const AnalysisSpec kStepsVerb{
    .name = "steps",
    .summary = "length, busy and idle time of every step",
    .example = "borescope steps run/",
    .needs = Needs::kSteps,
    .params = kStepsParams,
    .answer = {.map = MapOnce<MapSteps>, .reduce = ConcatTables, .finish = FinishSteps},
    .check = CheckSteps,
    .dear = DearOfSteps,
    .views = kViews};

}  // namespace borescope::internal
