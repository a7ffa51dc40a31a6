// Time that something covers: how much of the time a ratio is about, how much of a time intervals
// cover, in which time a row is the innermost, and whether a few events make up most of a time.
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

// A rate over the known part of the time says nothing about the rest, which may be what matters. So
// every such ratio has a column with the share of the time that it covers, and is missing if that
// is less than 90 %: at most one part in ten may be unknown, which would hardly change a
// conclusion.
inline constexpr int64_t kUnknownParts = 10;

struct TimeCovered {
  int64_t covered_ns = 0;  // part of all_ns
  int64_t all_ns = 0;

  void Add(int64_t ns, bool is_covered) {
    AddSaturatingTo(all_ns, ns);
    if (is_covered) AddSaturatingTo(covered_ns, ns);
  }
  // False if there is no time at all.
  bool is_enough() const {
    return all_ns > 0 && SubtractSaturating(all_ns, covered_ns) <= all_ns / kUnknownParts;
  }
};

// For each host row that `counts`: the time in which it is the last to have begun of the open rows
// that count. The times of a thread add up to the time in which any of these rows was open, whether
// or not they nest. 0 for all other rows. Ranges that may overlap (Tracks::is_async) keep their
// lengths. O(rows).
std::vector<int64_t> InnermostTimes(const Trace& trace, const std::function<bool(HostId)>& counts);

// IntervalSums: how much of a time a set of intervals covers, without walking the set.

// Thread-safe once it is made.
class IntervalSums {
 public:
  // O(n). Lengths add up to less than 2^63, as the intervals are disjoint.
  explicit IntervalSums(IntervalSet set) : set_(std::move(set)), before_(set_.size() + 1, 0) {
    for (size_t i = 0; i < set_.size(); ++i) before_[i + 1] = before_[i] + set_[i].length();
  }

  // How much of the time from `begin` to `end` is covered; 0 if it is empty. O(log n).
  int64_t Within(int64_t begin, int64_t end) const {
    return begin < end ? Until(end) - Until(begin) : 0;
  }

 private:
  // How much is covered before `ns`.
  int64_t Until(int64_t ns) const {
    const auto after = std::partition_point(set_.begin(), set_.end(),
                                            [ns](const Interval& i) { return i.begin < ns; });
    const auto count = static_cast<size_t>(after - set_.begin());
    if (count == 0) return 0;
    const Interval& last = set_[count - 1];
    return before_[count - 1] + std::min(ns, last.end) - last.begin;
  }

  IntervalSet set_;
  std::vector<int64_t> before_;  // the total length of those before each
};

inline constexpr size_t kMostFew = 3;
inline constexpr int64_t kLeastMany = 10;

// The sum of many events, and the largest of them: one more than may count as few.
struct LargestEvents {
  int64_t count = 0;
  int64_t all_ns = 0;
  int64_t largest_ns[kMostFew + 1] = {};  // in order; 0 if there are fewer

  // True if it is the largest so far.
  bool Add(int64_t ns);
};

// One to three events that make up more than half of a sum of ten or more events. Each is at least
// ten times as long as the others are on average, and three times as long as the longest of the
// others. Of five to nine events it is one, a hundred times as long as the others on average.
struct FewEvents {
  size_t events = 0;  // 0: there are no such
  int64_t ns = 0;     // of these events
};
FewEvents FindFew(const LargestEvents& sum);

}  // namespace borescope::internal
