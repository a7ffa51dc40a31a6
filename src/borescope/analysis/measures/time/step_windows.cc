#include "borescope/analysis/measures/time/step_windows.h"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>
#include <utility>

#include "borescope/index/steps.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostRows = 2'000'000;

using Limits = std::numeric_limits<int64_t>;

// Collects the time of each number, and of no step.
class StepTimes {
 public:
  explicit StepTimes(const std::vector<Step>& steps) : steps_(steps) {
    for (const Step& step : steps) {
      if (window_of_.try_emplace(step.number, windows_.size()).second) {
        windows_.push_back({step.number, step.begin_ns, {}});
      }
    }
    windows_.emplace_back();
  }

  void Add(uint32_t step, const IntervalSet& time) {
    IntervalSet& of_step =
        step == kNoStep ? windows_.back().time : windows_[window_of_.at(steps_[step].number)].time;
    of_step.insert(of_step.end(), time.begin(), time.end());
  }

  std::vector<StepWindow> Finish() {
    for (StepWindow& window : windows_) {
      window.time = Union(std::move(window.time));  // joins pieces that touch
    }
    std::erase_if(windows_, [](const StepWindow& window) { return window.time.empty(); });
    return std::move(windows_);
  }

 private:
  const std::vector<Step>& steps_;
  std::unordered_map<int64_t, size_t> window_of_;
  std::vector<StepWindow> windows_;  // the last: no step
};

}  // namespace

std::vector<StepWindow> WindowsOf(const RankView& view, const Selected& selected, bool by_step) {
  if (!by_step) {
    return {{kMissing, kMissing, selected.windows()}};
  }
  std::vector<Step> steps;
  steps.reserve(selected.steps().size());
  for (const uint32_t i : selected.steps()) {
    steps.push_back(view.index.steps.steps[i]);
  }
  StepTimes times(steps);
  Steps::Piece piece{Limits::min(), kNoStep};
  for (const Steps::Piece& next : CutSteps(steps)) {
    times.Add(piece.step, Clip(selected.windows(), {piece.begin_ns, next.begin_ns}));
    piece = next;
  }
  times.Add(piece.step, Clip(selected.windows(), {piece.begin_ns, Limits::max()}));
  return times.Finish();
}

Result<void> CheckRows(const RankView& view, size_t windows, size_t tracks) {
  if (tracks == 0 || windows <= kMostRows / tracks) {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{}: {} steps on each of {} devices or streams are more than {} rows; "
                           "choose some with --step, --gpu or --stream",
                           view.trace.meta().file, windows, tracks, kMostRows)};
}

}  // namespace borescope::internal
