// Whether one to three of many events make up most of a sum. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::internal {

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
