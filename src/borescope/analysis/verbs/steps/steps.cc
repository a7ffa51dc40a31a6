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

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/map_once.h"
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

namespace borescope::internal {
namespace {

Table NewTable() {
  Table table{"steps", "Steps on each device", {}};
  const auto ns = [&](std::string_view name, Role role, std::string_view doc) -> Column& {
    return AddInt(table, name, Unit::kNanoseconds, role, doc);
  };
  AddRankKey(table);
  AddGpuKeyOrNone(table);
  AddStepKeyOrNone(table);
  ns("begin_ns", Role::kMin, "Begin of the step on the host, on the file's own clock.");
  ns("span_ns", Role::kSum,
     "Length of the step on the host, less time in a step of its process that begins later.");
  ns("length_ns", Role::kSum,
     "From the completion of the step before, or the begin of this one if that is later, to its "
     "own "
     "completion: when its window on the host and all work that it launched have ended; whatever "
     "is selected.");
  ns("busy_ns", Role::kSum,
     "Time in which work of the step runs (union); with --step-rule time: in which any work runs "
     "inside the step.");
  ns("idle_ns", Role::kSum,
     "Device span less busy time; work of other steps may run then (not with --step-rule time).")
      .hints.tone = Tone::kIdle;
  AddInt(table, "kernels", Unit::kCount, Role::kSum, "Selected kernels of the step.");
  AddInt(table, "copies", Unit::kCount, Role::kSum, "Selected memcpys and memsets of the step.");
  ns("device_begin_ns", Role::kMin,
     "First begin of its work on the device; missing if there is none. With --step-rule time: "
     "begin of its selected time.");
  ns("device_end_ns", Role::kMax, "Last end of its work, or of its selected time.");
  ns("device_span_ns", Role::kSum,
     "From device begin to device end; with --step-rule time: the time of the step in between.");
  ns("shared_ns", Role::kSum,
     "Part of the busy time in which work of an earlier step runs, too; busy less shared adds up "
     "to the busy time of the device.");
  ns("waiting_ns", Role::kSum,
     "Length less busy time: the rest of the step, in which the device does nothing of it; 0 where "
     "its work began so long before the completion of the step before that it is busy for longer. "
     "With --step-rule time as the idle time.")
      .hints.tone = Tone::kIdle;
  ns("end_ns", Role::kMax, "Completion of the step, on the file's own clock.");
  AddString(table, "name", Role::kKey,
            "Name of its annotation, with the process if several have steps; (no step): launched "
            "outside of steps; (no launch): the launch was not recorded.");
  return table;
}

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

void PushRow(Table& table, const Line& line, const StepGroup& group, const HostWindow& host,
             const DeviceStep& step) {
  const auto device_ns = [&](int64_t ns) { return line.has_device ? ns : kMissing; };
  Row row(table);
  row.Int(line.rank).MaybeInt(line.gpu).MaybeInt(group.number);
  row.MaybeInt(host.begin_ns).MaybeInt(host.span_ns).MaybeInt(host.length_ns);
  row.MaybeInt(device_ns(step.busy_ns)).MaybeInt(device_ns(step.span_ns - step.busy_ns));
  row.Int(step.kernels).Int(step.copies).MaybeInt(step.begin_ns).MaybeInt(step.end_ns);
  row.MaybeInt(device_ns(step.span_ns)).MaybeInt(device_ns(step.shared_ns));
  row.MaybeInt(device_ns(WaitingOf(host, step, line.rule))).MaybeInt(host.end_ns);
  row.Text(group.name);
}

// The rows of steps: of each device that its process may use; if there is none, one without.
void PushStep(Table& table, const RankView& view, const StepGroups& groups, size_t group,
              std::span<const DeviceTime> times,
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
      PushRow(table, {view.rank, times[i].gpu, true, groups.rule()}, groups[group], host,
              on_devices[i][group]);
    }
  }
  if (!has_device && is_shown) {
    PushRow(table, {view.rank, kMissing, false, groups.rule()}, groups[group], host, {});
  }
}

bool AsksForTrueTime(const Params& params) {
  return params.Flag(kWithoutRecordingParam) || !params.Text(kPlainStepParam).empty();
}

Result<Tables> MapSteps(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  if (view.steps().steps.empty()) {
    return Tables{NewTable(), EmptyTrueTimeTable(),
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
  Table table = NewTable();
  for (size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].number != kMissing) {
      PushStep(table, view, groups, group, times, on_devices);
      continue;
    }
    for (size_t i = 0; i < times.size(); ++i) {
      if (on_devices[i][group].has_time()) {
        PushRow(table, {view.rank, times[i].gpu, true, groups.rule()}, groups[group], {},
                on_devices[i][group]);
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

Result<Tables> FinishSteps(Tables findings, const Params& /*params*/) {
  std::erase_if(findings,
                [](const Table& table) { return table.name != "steps" && table.rows() == 0; });
  if (Table heat = StepHeat(findings[0]); heat.rows() > 0) {
    findings.push_back(std::move(heat));
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
