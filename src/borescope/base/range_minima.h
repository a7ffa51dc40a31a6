// The numbers of a range that are below a bound, without looking at the others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace borescope::internal {

// A tree of the least numbers of ever larger ranges. T is an integer. Thread-safe once it is made.
template <class T>
class RangeMinima {
 public:
  explicit RangeMinima(const std::vector<T>& numbers)
      : size_(numbers.size()),
        leaves_(std::bit_ceil(std::max<size_t>(numbers.size(), 1))),
        least_(2 * leaves_, std::numeric_limits<T>::max()) {
    std::copy(numbers.begin(), numbers.end(),
              least_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (size_t node = leaves_ - 1; node > 0; --node) {
      least_[node] = std::min(least_[2 * node], least_[2 * node + 1]);
    }
  }

  size_t size() const { return size_; }

  // Calls `use(i)` for every i from `begin` to before `end` whose number is below `bound`, in
  // order. REQUIRES: end <= size(). O((1 + how many there are) log n).
  template <class Use>
  void ForEachBelow(size_t begin, size_t end, T bound, const Use& use) const {
    Visit({1, 0, leaves_}, begin, end, bound, use);
  }

 private:
  struct Node {
    size_t number;
    size_t first;
    size_t width;
  };

  template <class Use>
  void Visit(Node node, size_t begin, size_t end, T bound, const Use& use) const {
    if (node.first >= end || node.first + node.width <= begin || least_[node.number] >= bound) {
      return;
    }
    if (node.width == 1) {
      use(node.first);
      return;
    }
    const size_t half = node.width / 2;
    Visit({2 * node.number, node.first, half}, begin, end, bound, use);
    Visit({2 * node.number + 1, node.first + half, half}, begin, end, bound, use);
  }

  size_t size_;
  size_t leaves_;
  std::vector<T> least_;  // node 1 is the root; those of node n are 2n and 2n + 1
};

}  // namespace borescope::internal
