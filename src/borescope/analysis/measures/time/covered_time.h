#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "borescope/base/id.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// How much of the time a ratio covers. A rate over the part of the time that is understood says
// nothing about the rest, which may be what matters: every such ratio has a column with the share
// of the time that it covers, and is missing below a stated share.

// A ratio is missing if it does not cover 90 % of the time: not more than one part in ten may be
// unknown, so that the rest would hardly change what a reader concludes.
inline constexpr int64_t kUnknownParts = 10;

struct TimeCovered {
  int64_t covered_ns = 0;  // part of all_ns
  int64_t all_ns = 0;

  void Add(int64_t ns, bool is_covered) {
    AddSaturatingTo(all_ns, ns);
    if (is_covered) AddSaturatingTo(covered_ns, ns);
  }
  // Nothing is covered of no time at all.
  bool is_enough() const {
    return all_ns > 0 && SubtractSaturating(all_ns, covered_ns) <= all_ns / kUnknownParts;
  }
};

// The host time in which a row is the innermost of its thread.

// Per host row that `counts`: the time in which it is the one that began last of those that are
// open and count, so that the times of a thread add up to the time in which any of them was open,
// whether or not they nest. 0 for all other rows. Ranges that may overlap (Tracks::is_async) keep
// their lengths. O(rows).
std::vector<int64_t> InnermostTimes(const Trace& trace, const std::function<bool(HostId)>& counts);

// IntervalSums: how much of any time a set of intervals covers, without walking the set.

// Thread-safe once it is made.
class IntervalSums {
 public:
  // O(n). Lengths add up to less than 2^63, as the intervals are disjoint.
  explicit IntervalSums(IntervalSet set) : set_(std::move(set)), before_(set_.size() + 1, 0) {
    for (size_t i = 0; i < set_.size(); ++i) before_[i + 1] = before_[i] + set_[i].length();
  }

  // What is covered of the time from `begin` to `end`; 0 where that is none. O(log n).
  int64_t Within(int64_t begin, int64_t end) const {
    return begin < end ? Until(end) - Until(begin) : 0;
  }

 private:
  // What is covered before `ns`.
  int64_t Until(int64_t ns) const {
    const auto after = std::partition_point(set_.begin(), set_.end(),
                                            [ns](const Interval& i) { return i.begin < ns; });
    const auto count = static_cast<size_t>(after - set_.begin());
    if (count == 0) return 0;
    const Interval& last = set_[count - 1];
    return before_[count - 1] + std::min(ns, last.end) - last.begin;
  }

  IntervalSet set_;
  std::vector<int64_t> before_;  // the length of those before each
};

// Whether one to three of many events make up most of a sum. Pure.

inline constexpr size_t kMostFew = 3;
inline constexpr int64_t kLeastMany = 10;

// The largest events of a sum, and one more than may be few.
struct LargestEvents {
  int64_t count = 0;
  int64_t all_ns = 0;
  int64_t largest_ns[kMostFew + 1] = {};  // in order; 0 where there are fewer

  // True if it is the largest so far.
  bool Add(int64_t ns);
};

// One to three events that make up more than half of a sum of ten or more, as many as are ten times
// as long as the others are on average, and three times as long as the longest of these.
struct FewEvents {
  size_t events = 0;  // 0: there are no such
  int64_t ns = 0;     // of these
};
FewEvents FindFew(const LargestEvents& sum);

}  // namespace borescope::internal
