// IntervalSums: how much of any time a set of intervals covers, without walking the set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "borescope/base/intervals.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
