#include "borescope/compat/chakra/exclusive.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace borescope::internal::chakra::compat {
namespace {

class Sweep {
 public:
  explicit Sweep(std::span<const TimedSpan> spans)
      : spans_(spans), order_(spans.size()), behind_(spans.size()), is_clean_(spans.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      const TimedSpan& x = spans[a];
      const TimedSpan& y = spans[b];
      return x.begin < y.begin || (!(y.begin < x.begin) && x.duration < y.duration);
    });
  }

  // From the last one back, so that a span inside is known when its parent asks.
  std::vector<Number> Run(Diagnostics& diagnostics) {
    std::vector<Number> exclusive(spans_.size());
    for (size_t at = order_.size(); at-- > 0;) {
      FindInside(at);
      Number left = spans_[order_[at]].duration;
      for (const Interval& interval : merged_) {
        left = left - (interval.end - interval.begin);
      }
      if (left < Number::Int(0)) {
        diagnostics.Count(Diag::kNegativeDuration);
        left = Number::Int(0);
      }
      exclusive[order_[at]] = left;
    }
    return exclusive;
  }

 private:
  struct Interval {
    Number begin;
    Number end;
  };

  // Sets merged_ to what lies inside the span at `at`. A clean span holds all that begins in it, so
  // that what is behind it can be looked at next.
  void FindInside(size_t at) {
    const TimedSpan& span = spans_[order_[at]];
    const Number end = span.begin + span.duration;
    merged_.clear();
    is_clean_[at] = 1;
    size_t next = at + 1;
    while (next < order_.size() && !(end < spans_[order_[next]].begin)) {
      const TimedSpan& other = spans_[order_[next]];
      const Number other_end = other.begin + other.duration;
      if (other_end <= end) {
        Add({other.begin, other_end});
        next = is_clean_[next] != 0 ? behind_[next] : next + 1;
      } else {
        is_clean_[at] = 0;
        ++next;
      }
    }
    behind_[at] = next;
  }

  // REQUIRES: begins no earlier than what was added before.
  void Add(Interval interval) {
    if (merged_.empty() || merged_.back().end < interval.begin) {
      merged_.push_back(interval);
    } else if (merged_.back().end < interval.end) {
      merged_.back().end = interval.end;
    }
  }

  std::span<const TimedSpan> spans_;
  std::vector<uint32_t> order_;
  std::vector<size_t> behind_;  // the first place in order_ whose span begins after this one's end
  std::vector<char> is_clean_;
  std::vector<Interval> merged_;
};

}  // namespace

std::vector<Number> ExclusiveDurations(std::span<const TimedSpan> spans, Diagnostics& diagnostics) {
  return Sweep(spans).Run(diagnostics);
}

}  // namespace borescope::internal::chakra::compat
