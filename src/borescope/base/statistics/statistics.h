// Quantiles, medians, and numbers that look random and are the same every time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace borescope::internal {

// Quantiles and medians of numbers: a quantile q of n values lies at position q (n - 1) of the
// sorted values, with linear interpolation between neighbours, which is type 7 of Hyndman and Fan
// (1996), the default of numpy and pandas. Pure functions, safe from any thread.

// The quantile `q`, O(n). Reorders `values`. REQUIRES: values is not empty, 0 <= q <= 1.
template <class T>
double QuantileOf(std::span<T> values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const auto low = static_cast<double>(values[static_cast<size_t>(below)]);
  const double fraction = position - static_cast<double>(below);
  if (fraction == 0.0) {
    return low;
  }
  const auto above = std::min_element(values.begin() + below + 1, values.end());
  return low + fraction * (static_cast<double>(*above) - low);
}

// The median of an ascending sequence; of an even number the mean of the two in the middle.
// REQUIRES: not empty.
inline double MedianOfSorted(std::span<const double> sorted) {
  const size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// The median of values in any order, of which a copy is made. REQUIRES: not empty.
inline double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return MedianOfSorted(values);
}

// Numbers that look random and are the same every time: SplitMix64 (Steele, Lea and Flood 2014,
// "Fast splittable pseudorandom number generators").

// Not thread-safe.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace borescope::internal
