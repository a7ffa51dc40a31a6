#include "borescope/analysis/measures/time/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"

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
  for (const uint32_t row : EachRow(step_of.size())) {
    if (step_of[row] != kNoStep && IsDeviceWork(view.trace.device().kind[row])) {
      int64_t& end_ns = ends[step_of[row]];
      end_ns = std::max(end_ns, EndOf(view, clocks, DeviceId{row}));
    }
  }
  return ends;
}

// Per process: when its work from before the recording ended.
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

// `done`: per process, when everything before its first step was complete.
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

namespace {

constexpr size_t kMostRows = 2'000'000;

using Limits = std::numeric_limits<int64_t>;

// A step whose window is selected has a row even if it launched nothing.
bool MayBeWithoutTime(const Selected& selected, const Step& step) {
  return selected.step_rule() == StepRule::kLaunch &&
         !Clip(selected.time_of_all_steps(), {step.begin_ns, step.end_ns}).empty();
}

// Collects the time in each numbered step, and the time that is in none.
class WindowTimes {
 public:
  WindowTimes(const RankView& view, const Selected& selected) : steps_(view.steps().steps) {
    for (const uint32_t i : selected.steps_at_any_time()) {
      const auto [window, is_new] = window_of_.try_emplace(steps_[i].number, windows_.size());
      if (is_new) {
        windows_.push_back({steps_[i].number, {}});
        is_kept_.push_back(0);
      }
      if (MayBeWithoutTime(selected, steps_[i])) {
        is_kept_[window->second] = 1;
      }
    }
    windows_.emplace_back();
    is_kept_.push_back(0);
  }

  // REQUIRES: lines come in order.
  void Add(size_t line, uint32_t step, const IntervalSet& time) {
    if (time.empty()) {
      return;
    }
    StepWindow& window =
        step == kNoStep ? windows_.back() : windows_[window_of_.at(steps_[step].number)];
    if (window.times.empty() || window.times.back().line != line) {
      window.times.push_back({line, {}});
    }
    IntervalSet& times = window.times.back().time;
    times.insert(times.end(), time.begin(), time.end());
  }

  std::vector<StepWindow> Finish() {
    std::vector<StepWindow> kept;
    for (size_t i = 0; i < windows_.size(); ++i) {
      for (StepWindow::LineTime& one : windows_[i].times) {
        one.time = Union(std::move(one.time));  // joins adjacent pieces
      }
      if (!windows_[i].times.empty() || is_kept_[i] != 0) {
        kept.push_back(std::move(windows_[i]));
      }
    }
    return kept;
  }

 private:
  const std::vector<Step>& steps_;
  HashMap<int64_t, size_t> window_of_;
  std::vector<StepWindow> windows_;  // the last one: no step
  std::vector<char> is_kept_;        // per window: whether it is kept even without time
};

void AddLine(const Selected& selected, const LineTracks& tracks, size_t line, WindowTimes& times) {
  const IntervalSet selected_time = selected.TimeOf(tracks);
  Steps::Piece piece{Limits::min(), kNoStep};
  for (const Steps::Piece& next : selected.PiecesOf(tracks)) {
    times.Add(line, piece.step, Clip(selected_time, {piece.begin_ns, next.begin_ns}));
    piece = next;
  }
  times.Add(line, piece.step, Clip(selected_time, {piece.begin_ns, Limits::max()}));
}

}  // namespace

const IntervalSet& StepWindow::On(size_t line) const {
  static const IntervalSet none;
  const auto found =
      std::lower_bound(times.begin(), times.end(), line,
                       [](const LineTime& one, size_t wanted) { return one.line < wanted; });
  return found != times.end() && found->line == line ? found->time : none;
}

std::vector<StepWindow> WindowsOf(const RankView& view, const Selected& selected, bool by_step,
                                  const std::vector<LineTracks>& lines) {
  if (!by_step) {
    StepWindow all;
    for (size_t line = 0; line < lines.size(); ++line) {
      all.times.push_back({line, selected.TimeOf(lines[line])});
    }
    return {std::move(all)};
  }
  WindowTimes times(view, selected);
  for (size_t line = 0; line < lines.size(); ++line) {
    AddLine(selected, lines[line], line, times);
  }
  return times.Finish();
}

Result<void> CheckRows(const RankView& view, size_t windows, size_t tracks) {
  if (tracks == 0 || windows <= kMostRows / tracks) {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} steps on each of {} devices or streams are more than {} rows",
                           windows, tracks, kMostRows),
               "choose some with `step`, `gpu` or `stream`", view.trace.meta().file};
}

}  // namespace borescope::internal
