// steps: each ProfilerStep window on each GPU. Busy time is the union of device work clipped to the
// window [begin, end) of host time; idle is the rest. Time in several windows belongs to the step
// that begins last, as in a breakdown by step (step_windows.h). Device work that runs late
// therefore counts in the step it runs in, while `kernels` counts the kernels that the step
// launched, whenever they ran.
#include <map>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/time/step_windows.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

Table NewTable() {
  Table table{"steps", "Training steps", {}};
  AddRankKey(table);
  AddGpuKeyOrNone(table);
  AddStepKey(table);
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kMin,
         "Start of the step on the host, on the file's own clock.");
  AddInt(table, "span_ns", Unit::kNanoseconds, Role::kSum,
         "Length of the step on the host, less time in a step that begins later.");
  AddInt(table, "busy_ns", Unit::kNanoseconds, Role::kSum,
         "Time of the step in which the device works.");
  AddInt(table, "idle_ns", Unit::kNanoseconds, Role::kSum, "Span less busy time.").hints.tone =
      Tone::kIdle;
  AddInt(table, "kernels", Unit::kCount, Role::kSum,
         "Kernels launched during the step (its selected part), whenever they ran.");
  return table;
}

using GpuStep = std::pair<int64_t, int64_t>;  // device, number of the step

// Selected kernels by the step that launched them.
std::map<GpuStep, int64_t> CountKernels(const RankView& view, const Selected& selected) {
  std::map<GpuStep, int64_t> counts;
  const DeviceEvents& device = view.trace.device();
  const std::vector<uint32_t>& step_of = view.index.steps.device_step;
  for (uint32_t row = 0; row < step_of.size(); ++row) {
    if (device.kind[row] == DeviceKind::kKernel && step_of[row] != kNoStep &&
        selected.Keeps(DeviceId{row})) {
      ++counts[{view.trace.DeviceOf(DeviceId{row}), view.index.steps.steps[step_of[row]].number}];
    }
  }
  return counts;
}

Result<Tables> MapSteps(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::map<GpuStep, int64_t> kernels = CountKernels(view, selected);
  Table table = NewTable();
  const std::vector<DeviceTime> times = DeviceTimes(view, selected, PerTrack::kGpu);
  const std::vector<StepWindow> windows = WindowsOf(view, selected, true);
  BS_TRY(CheckRows(view, windows.size(), times.size()));
  for (const StepWindow& window : windows) {
    if (window.step == kMissing) {
      continue;  // time in no step
    }
    for (const DeviceTime& time : times) {
      const TimeSplit split = SplitTime(time, window.time);
      const auto count = kernels.find({time.gpu, window.step});
      Row(table)
          .Int(view.rank)
          .MaybeInt(time.gpu)
          .Int(window.step)
          .Int(window.begin_ns)
          .Int(split.span_ns)
          .Int(split.busy_ns)
          .Int(split.idle_ns)
          .Int(count == kernels.end() ? 0 : count->second);
    }
  }
  return Tables{std::move(table)};
}

constexpr std::string_view kDevice[] = {"rank", "gpu", "step"};
constexpr std::string_view kStepParts[] = {"busy_ns", "idle_ns"};
constexpr ViewSpec kViews[] = {
    {"steps", ViewKind::kStackedBars, "Span of each step", kDevice, kStepParts}};

}  // namespace

const AnalysisSpec kStepsVerb{.name = "steps",
                              .summary = "span, busy and idle time of every training step",
                              .example = "borescope steps run/",
                              .needs = Needs::kSteps,
                              .answer = {.map = MapSteps, .reduce = ConcatTables},
                              .views = kViews};

}  // namespace borescope::internal
