#include "borescope/analysis/measures/rank_clocks/clock_line.h"

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

// The time of the clock at which the other one shows `other_ns`; of several the last.
int64_t TimeBefore(const ClockLine& line, int64_t other_ns) {
  for (size_t piece = line.pieces.size(); piece-- > 0;) {
    // Twice, as the drift until then is that of the time that is looked for.
    int64_t ns = other_ns - line.CorrectionIn(piece, other_ns);
    ns = other_ns - line.CorrectionIn(piece, ns);
    if (ns >= line.pieces[piece].from_ns) return ns;
  }
  return other_ns - line.CorrectionIn(0, other_ns);
}

}  // namespace

ClockLine ClockLine::Compose(const ClockLine& first, const ClockLine& second) {
  std::vector<int64_t> begins;
  for (size_t i = 1; i < first.pieces.size(); ++i) begins.push_back(first.pieces[i].from_ns);
  ClockLine both;
  both.doubtful = first.doubtful;
  for (size_t i = 1; i < second.pieces.size(); ++i) {
    begins.push_back(TimeBefore(first, second.pieces[i].from_ns));
  }
  for (const Interval& step : second.doubtful) {
    const int64_t a = TimeBefore(first, step.begin);
    const int64_t b = TimeBefore(first, step.end);
    both.doubtful.push_back({std::min(a, b), std::max(a, b)});
  }
  std::sort(begins.begin(), begins.end());
  begins.insert(begins.begin(), std::numeric_limits<int64_t>::min());
  both.drift = first.drift + second.drift;
  both.pieces.clear();
  for (size_t i = 0; i < begins.size(); ++i) {
    // Any time within the piece has its offset; the middle one is far from what was rounded.
    const int64_t begin = i == 0 ? (begins.size() > 1 ? begins[1] - 1 : 0) : begins[i];
    const int64_t end = i + 1 < begins.size() ? begins[i + 1] : begin;
    const int64_t at = i == 0 ? begin : begin + (end - begin) / 2;
    const int64_t by = first.CorrectionAt(at);
    const int64_t sum = AddSaturating(by, second.CorrectionAt(AddSaturating(at, by)));
    both.pieces.push_back({begins[i], sum - std::llround(both.drift * static_cast<double>(at))});
  }
  return both;
}

}  // namespace borescope::internal
