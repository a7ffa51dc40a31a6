#include "borescope/analysis/measures/time/step_times.h"

#include <algorithm>
#include <utility>

#include "borescope/analysis/core/selection/recorded_syncs.h"
#include "borescope/analysis/measures/shared_inherited_work.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

int64_t EndOf(const RankView& view, const DeviceClocks& clocks, DeviceId id) {
  const DeviceEvents& device = view.trace.device();
  return AddSaturating(device.end_ns(id), clocks.SkewOf(device.track[id.value]));
}

// Per step: when the last work that it launched ended.
std::vector<int64_t> EndsOfWork(const RankView& view, const DeviceClocks& clocks) {
  std::vector<int64_t> ends(view.steps().steps.size(), kMissing);
  const ColumnData<uint32_t>& step_of = view.steps().device_step;
  for (uint32_t row = 0; row < step_of.size(); ++row) {
    CheckStopAt(row);
    if (step_of[row] != kNoStep && IsDeviceWork(view.trace.device().kind[row])) {
      int64_t& end_ns = ends[step_of[row]];
      end_ns = std::max(end_ns, EndOf(view, clocks, DeviceId{row}));
    }
  }
  return ends;
}

// Per process: when the work ended that it had launched before the recording.
std::vector<int64_t> EndsOfInheritedWork(const RankView& view, const DeviceClocks& clocks,
                                         std::span<const DeviceId> inherited) {
  const Steps& steps = view.steps();
  std::vector<int64_t> ends(steps.processes.size(), kMissing);
  for (const DeviceId id : inherited) {
    const uint32_t process = steps.process_of[view.trace.device().track[id.value].value];
    for (uint32_t i = 0; i < ends.size(); ++i) {
      if (process == i || process == kAnyProcess) {
        ends[i] = std::max(ends[i], EndOf(view, clocks, id));
      }
    }
  }
  return ends;
}

// `done`: per process, what was complete before its first step.
std::vector<Interval> TimesOf(const Steps& steps, const std::vector<int64_t>& work_end,
                              std::vector<int64_t> done) {
  std::vector<Interval> times;
  times.reserve(steps.steps.size());
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    int64_t& done_ns = done[step.process];
    const int64_t begin_ns = std::max(done_ns, step.begin_ns);
    done_ns = std::max({begin_ns, step.end_ns, work_end[i]});
    times.push_back({begin_ns, done_ns});
  }
  return times;
}

}  // namespace

std::vector<Interval> StepTimes(const RankView& view, const DeviceClocks& clocks,
                                std::span<const DeviceId> inherited) {
  return view.steps().steps.empty() ? std::vector<Interval>()
                                    : TimesOf(view.steps(), EndsOfWork(view, clocks),
                                              EndsOfInheritedWork(view, clocks, inherited));
}

std::vector<Interval> StepTimes(const RankView& view, const DeviceClocks& clocks) {
  return view.steps().steps.empty() ? std::vector<Interval>()
                                    : StepTimes(view, clocks, SharedInheritedWork(view)->Rows());
}

bool HasStepTimes(const Selected& selected) {
  const bool has_steps = selected.windows() != selected.time_of_all_steps();
  return has_steps && selected.step_rule() != StepRule::kTime;
}

IntervalSet SelectedTime(const RankView& view, const Selected& selected) {
  return HasStepTimes(selected)
             ? SelectedTime(selected, StepTimes(view, SharedClockedSyncs(view)->clocks))
             : selected.windows();
}

IntervalSet SelectedTime(const Selected& selected, std::span<const Interval> step_times) {
  std::vector<Interval> of_steps;
  for (const uint32_t step : selected.steps_at_any_time()) {
    of_steps.push_back(step_times[step]);
  }
  return Intersect(selected.time_of_all_steps(), Union(std::move(of_steps)));
}

std::vector<Interval> HostStepTimes(const RankView& view) {
  const Steps& steps = view.steps();
  return TimesOf(steps, std::vector<int64_t>(steps.steps.size(), kMissing),
                 std::vector<int64_t>(steps.processes.size(), kMissing));
}

}  // namespace borescope::internal
