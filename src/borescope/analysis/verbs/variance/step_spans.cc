#include "borescope/analysis/verbs/variance/step_spans.h"

#include <limits>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/steps/step_pieces.h"

namespace borescope::internal {
namespace {

class SpanFinder {
 public:
  SpanFinder(const RankView& view, const Selected& selected)
      : view_(view), windows_(selected.windows()) {}

  StepSpans Find(std::span<const uint32_t> selected) {
    const std::vector<Steps::Piece> cut = CutSteps(view_.steps().steps, selected);
    for (size_t i = 0; i < cut.size(); ++i) {
      CheckStopAt(i);
      const int64_t end_ns =
          i + 1 < cut.size() ? cut[i + 1].begin_ns : std::numeric_limits<int64_t>::max();
      if (cut[i].step != kNoStep) {
        AddPiece(cut[i].step, {cut[i].begin_ns, end_ns});
      }
    }
    return std::move(found_);
  }

 private:
  void AddPiece(uint32_t step, Interval piece) {
    for (const Interval& part : Clip(windows_, piece)) {
      const uint32_t index = SpanOf(step);
      StepSpan& span = found_.spans[index];
      Extend(span.windows, part);
      AddSaturatingTo(span.length_ns, part.length());
      found_.pieces.push_back({part, index, ThreadOf(step)});
    }
  }

  uint32_t SpanOf(uint32_t step) {
    const std::vector<Step>& steps = view_.steps().steps;
    const int64_t number = steps[step].number;
    const auto [found, is_new] =
        of_number_.try_emplace(number, static_cast<uint32_t>(found_.spans.size()));
    if (is_new) {
      found_.spans.push_back({number, number == steps.front().number, {}, 0});
    }
    return found->second;
  }

  TrackId ThreadOf(uint32_t step) const {
    return view_.trace.host().track[view_.steps().steps[step].annotation.value];
  }

  const RankView& view_;
  const IntervalSet& windows_;
  HashMap<int64_t, uint32_t> of_number_;
  StepSpans found_;
};

}  // namespace

StepSpans FindStepSpans(const RankView& view, const Selected& selected) {
  return SpanFinder(view, selected).Find(selected.steps());
}

}  // namespace borescope::internal
