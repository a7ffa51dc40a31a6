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

inline void AddSaturatingTo(int64_t& sum, int64_t value) { sum = AddSaturating(sum, value); }

}  // namespace borescope::internal
