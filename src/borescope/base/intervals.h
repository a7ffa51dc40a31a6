// Intervals of integer nanoseconds, half open [begin, end). An IntervalSet is sorted, disjoint and
// non-empty in every part: the normal form in which unions, intersections and gaps are linear. Used
// for busy and idle time, overlap and exposure. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace borescope::internal {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t length() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

using IntervalSet = std::vector<Interval>;

// Appends `next`, joining it with the last one if they touch; an empty or inverted one is dropped.
// REQUIRES: it does not begin before the last one.
void Extend(IntervalSet& set, const Interval& next);

// The union of any intervals; empty and inverted ones are dropped, touching ones are joined. O(n
// log n), or O(n log runs) when `intervals` is a concatenation of runs sorted by begin.
IntervalSet Union(std::vector<Interval> intervals);

// Set operations. REQUIRES: both sides are IntervalSets.
IntervalSet Union(const IntervalSet& a, const IntervalSet& b);
IntervalSet Intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet Subtract(const IntervalSet& a, const IntervalSet& b);

// The part of `set` inside [window.begin, window.end). REQUIRES: `set` is an IntervalSet.
IntervalSet Clip(const IntervalSet& set, Interval window);

// Total length. REQUIRES: `set` is an IntervalSet.
int64_t Coverage(std::span<const Interval> set);

}  // namespace borescope::internal
