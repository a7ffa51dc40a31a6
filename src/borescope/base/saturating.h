// Sums and differences that stop at the ends of the range: a corrupt file may contain thousands of
// week-long events. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <limits>

namespace borescope::internal {

inline int64_t AddSaturating(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? Limits::max() : Limits::min()) : sum;
}

inline int64_t SubtractSaturating(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? (b > 0 ? Limits::min() : Limits::max())
                                                   : difference;
}

// The whole part of a number, or the nearest end of the range; 0 for what is not a number.
inline int64_t TruncateSaturating(double number) {
  using Limits = std::numeric_limits<int64_t>;
  constexpr double kEnd = 9223372036854775808.0;  // the first double that is beyond the range
  if (number >= kEnd) return Limits::max();
  return number >= -kEnd ? static_cast<int64_t>(number) : number < 0 ? Limits::min() : 0;
}

// The largest number with a sign where a count has none.
inline int64_t SignedSaturating(uint64_t number) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(number < kMost ? number : kMost);
}

inline void AddSaturatingTo(int64_t& sum, int64_t value) { sum = AddSaturating(sum, value); }

}  // namespace borescope::internal
