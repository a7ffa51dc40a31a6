#include "borescope/analysis/verbs/variance/step_spans.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "borescope/analysis/measures/shared_inherited_work.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
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

  // `clocks`: nullptr for the host alone.
  StepSpans Find(const DeviceClocks* clocks) {
    const std::vector<int64_t> work_end = EndsOfWork(clocks);
    int64_t done_ns = steps_.empty() ? 0 : DoneBefore(steps_.front().begin_ns, clocks);
    for (const uint32_t i : ours_) {
      const int64_t begin_ns = std::max(done_ns, steps_[i].begin_ns);
      done_ns = std::max({begin_ns, steps_[i].end_ns, work_end[i]});
      AddPiece(i, {begin_ns, done_ns});
    }
    return std::move(found_);
  }

 private:
  // When what came before the first step was complete: the work of it is inherited.
  int64_t DoneBefore(int64_t begin_ns, const DeviceClocks* clocks) const {
    if (clocks == nullptr) {
      return begin_ns;
    }
    const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view_);
    const DeviceEvents& device = view_.trace.device();
    int64_t done_ns = begin_ns;
    for (uint32_t row = 0; row < inherited->origin.size(); ++row) {
      CheckStopAt(row);
      if (inherited->IsInherited({row})) {
        done_ns = std::max(done_ns,
                           AddSaturating(device.end_ns({row}), clocks->SkewOf(device.track[row])));
      }
    }
    return done_ns;
  }

  // Per step: when the last work that it launched ended.
  std::vector<int64_t> EndsOfWork(const DeviceClocks* clocks) const {
    std::vector<int64_t> ends(steps_.size(), kMissing);
    const DeviceEvents& device = view_.trace.device();
    const ColumnData<uint32_t>& step_of = view_.steps().device_step;
    for (uint32_t row = 0; clocks != nullptr && row < step_of.size(); ++row) {
      CheckStopAt(row);
      if (step_of[row] != kNoStep && IsDeviceWork(device.kind[row])) {
        const int64_t skew_ns = clocks->SkewOf(device.track[row]);
        int64_t& end_ns = ends[step_of[row]];
        end_ns = std::max(end_ns, AddSaturating(device.end_ns(DeviceId{row}), skew_ns));
      }
    }
    return ends;
  }

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
  return SpanFinder(view, numbers).Find(&clocks);
}

StepSpans FindHostSpans(const RankView& view, const NumberRanges& numbers) {
  return SpanFinder(view, numbers).Find(nullptr);
}

}  // namespace borescope::internal
