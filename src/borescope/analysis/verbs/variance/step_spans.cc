#include "borescope/analysis/verbs/variance/step_spans.h"

#include <map>
#include <utility>

#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/index/steps/step_occurrences.h"

namespace borescope::internal {
namespace {

class SpanFinder {
 public:
  SpanFinder(const RankView& view, const NumberRanges& numbers)
      : view_(view),
        steps_(view.steps().steps),
        numbers_(numbers),
        occurrences_(OccurrencesOf(view.trace, steps_)) {
    found_.span_of.assign(steps_.size(), kNoStep);
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].process == steps_.front().process) {
        ours_.push_back(i);
      }
    }
  }

  // `times`: of every step.
  StepSpans Find(const std::vector<Interval>& times) {
    for (const uint32_t i : ours_) {
      AddPiece(i, times[i]);
    }
    return std::move(found_);
  }

 private:
  void AddPiece(uint32_t number, Interval time) {
    const Step& step = steps_[number];
    const bool is_asked = numbers_.empty() || numbers_.Contains(step.number);
    if (!is_asked || time.begin >= time.end) {
      return;
    }
    const auto [found, is_new] = known_.try_emplace({step.number, occurrences_[number]},
                                                    static_cast<uint32_t>(found_.spans.size()));
    if (is_new) {
      const bool is_first = step.number == steps_.front().number && occurrences_[number] == 0;
      found_.spans.push_back({step.number, is_first, 0});
    }
    found_.span_of[number] = found->second;
    found_.spans[found->second].length_ns += time.length();
    const TrackId thread = view_.trace.host().track[step.annotation.value];
    found_.pieces.push_back({time, found->second, thread});
  }

  const RankView& view_;
  const std::vector<Step>& steps_;
  const NumberRanges& numbers_;
  std::vector<uint32_t> ours_;                              // of the process of the first step
  std::vector<uint32_t> occurrences_;                       // per step
  std::map<std::pair<int64_t, uint32_t>, uint32_t> known_;  // number, occurrence -> span
  StepSpans found_;
};

}  // namespace

IntervalSet StepSpans::Time() const {
  IntervalSet time;
  for (const StepPiece& piece : pieces) {
    Extend(time, piece.time);
  }
  return time;
}

StepSpans FindStepSpans(const RankView& view, const NumberRanges& numbers,
                        const DeviceClocks& clocks) {
  return SpanFinder(view, numbers).Find(StepTimes(view, clocks));
}

StepSpans FindHostSpans(const RankView& view, const NumberRanges& numbers) {
  return SpanFinder(view, numbers).Find(HostStepTimes(view));
}

}  // namespace borescope::internal
