// Finds the largest of many numbers in any range of them. Pure once it is made.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace borescope::internal {

class RangeMaximum {
 public:
  // O(n).
  explicit RangeMaximum(std::vector<int64_t> numbers)
      : numbers_(std::move(numbers)),
        leaves_(std::bit_ceil(std::max<size_t>(numbers_.size(), 1))),
        place_(2 * leaves_, 0) {
    for (size_t i = 0; i < numbers_.size(); ++i) place_[leaves_ + i] = i;
    for (size_t node = leaves_ - 1; node > 0; --node) {
      place_[node] = Larger(place_[2 * node], place_[2 * node + 1]);
    }
  }

  // The place of the largest from `begin` to before `end`, of several the first.
  // REQUIRES: begin < end <= how many there are. O(log n).
  size_t PlaceIn(size_t begin, size_t end) const {
    size_t best = begin;
    for (size_t low = begin + leaves_, high = end + leaves_; low < high; low /= 2, high /= 2) {
      if (low % 2 != 0) best = Larger(best, place_[low++]);
      if (high % 2 != 0) best = Larger(best, place_[--high]);
    }
    return best;
  }

 private:
  size_t Larger(size_t a, size_t b) const {
    if (numbers_[a] != numbers_[b]) return numbers_[a] > numbers_[b] ? a : b;
    return std::min(a, b);
  }

  std::vector<int64_t> numbers_;
  size_t leaves_;
  std::vector<size_t> place_;  // node 1 is the root
};

}  // namespace borescope::internal
