#include "borescope/base/intervals.h"

#include <algorithm>
#include <span>

#include "borescope/base/sort_runs.h"

namespace borescope::internal {
namespace {

bool BeginsBefore(const Interval& a, const Interval& b) { return a.begin < b.begin; }

}  // namespace

void Extend(IntervalSet& set, const Interval& next) {
  if (next.end <= next.begin) {
    return;
  }
  if (!set.empty() && next.begin <= set.back().end) {
    set.back().end = std::max(set.back().end, next.end);
  } else {
    set.push_back(next);
  }
}

IntervalSet Union(std::vector<Interval> intervals) {
  SortRuns(std::span(intervals), BeginsBefore);
  IntervalSet result;
  for (const Interval& interval : intervals) {
    Extend(result, interval);
  }
  return result;
}

IntervalSet Union(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  result.reserve(a.size() + b.size());
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool take_a = j == b.size() || (i < a.size() && a[i].begin <= b[j].begin);
    Extend(result, take_a ? a[i++] : b[j++]);
  }
  return result;
}

IntervalSet Intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const Interval common{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (common.begin < common.end) {
      result.push_back(common);
    }
    a[i].end < b[j].end ? ++i : ++j;
  }
  return result;
}

IntervalSet Subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  size_t j = 0;
  for (const Interval& whole : a) {
    int64_t begin = whole.begin;
    while (j < b.size() && b[j].end <= begin) {
      ++j;
    }
    for (size_t k = j; k < b.size() && b[k].begin < whole.end; ++k) {
      if (begin < b[k].begin) {
        result.push_back({begin, b[k].begin});
      }
      begin = std::max(begin, b[k].end);
    }
    if (begin < whole.end) {
      result.push_back({begin, whole.end});
    }
  }
  return result;
}

IntervalSet Clip(const IntervalSet& set, Interval window) {
  IntervalSet result;
  auto first = std::partition_point(set.begin(), set.end(),
                                    [&](const Interval& part) { return part.end <= window.begin; });
  for (; first != set.end() && first->begin < window.end; ++first) {
    const Interval inside{std::max(first->begin, window.begin), std::min(first->end, window.end)};
    if (inside.begin < inside.end) {  // false only in an empty window
      result.push_back(inside);
    }
  }
  return result;
}

int64_t Coverage(std::span<const Interval> set) {
  int64_t total = 0;
  for (const Interval& part : set) {
    total += part.length();
  }
  return total;
}

}  // namespace borescope::internal
