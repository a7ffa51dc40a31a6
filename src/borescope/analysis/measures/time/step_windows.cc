#include "borescope/analysis/measures/time/step_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace borescope::internal {
namespace {

constexpr size_t kMostRows = 2'000'000;

using Limits = std::numeric_limits<int64_t>;

// Collects the time of each number, and of no step.
class StepTimes {
 public:
  StepTimes(const RankView& view, const Selected& selected, size_t lines)
      : steps_(view.steps().steps) {
    for (const uint32_t i : selected.steps_at_any_time()) {
      if (window_of_.try_emplace(steps_[i].number, windows_.size()).second) {
        windows_.push_back({steps_[i].number, std::vector<IntervalSet>(lines)});
      }
    }
    windows_.push_back({kMissing, std::vector<IntervalSet>(lines)});
  }

  void Add(size_t line, uint32_t step, const IntervalSet& time) {
    if (!time.empty()) {
      StepWindow& window =
          step == kNoStep ? windows_.back() : windows_[window_of_.at(steps_[step].number)];
      window.times[line].insert(window.times[line].end(), time.begin(), time.end());
    }
  }

  std::vector<StepWindow> Finish() {
    for (StepWindow& window : windows_) {
      for (IntervalSet& time : window.times) {
        time = Union(std::move(time));  // joins pieces that touch
      }
    }
    std::erase_if(windows_, [](const StepWindow& window) {
      return std::all_of(window.times.begin(), window.times.end(),
                         [](const IntervalSet& time) { return time.empty(); });
    });
    return std::move(windows_);
  }

 private:
  const std::vector<Step>& steps_;
  std::unordered_map<int64_t, size_t> window_of_;
  std::vector<StepWindow> windows_;  // the last: no step
};

void AddLine(const Selected& selected, const LineTracks& tracks, size_t line, StepTimes& times) {
  const IntervalSet selected_time = selected.TimeOf(tracks);
  Steps::Piece piece{Limits::min(), kNoStep};
  for (const Steps::Piece& next : selected.PiecesOf(tracks)) {
    times.Add(line, piece.step, Clip(selected_time, {piece.begin_ns, next.begin_ns}));
    piece = next;
  }
  times.Add(line, piece.step, Clip(selected_time, {piece.begin_ns, Limits::max()}));
}

}  // namespace

std::vector<StepWindow> WindowsOf(const RankView& view, const Selected& selected, bool by_step,
                                  const std::vector<LineTracks>& lines) {
  if (!by_step) {
    StepWindow all;
    for (const LineTracks& tracks : lines) {
      all.times.push_back(selected.TimeOf(tracks));
    }
    return {std::move(all)};
  }
  StepTimes times(view, selected, lines.size());
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
               fmt::format("{}: {} steps on each of {} devices or streams are more than {} rows; "
                           "choose some with --step, --gpu or --stream",
                           view.trace.meta().file, windows, tracks, kMostRows)};
}

}  // namespace borescope::internal
