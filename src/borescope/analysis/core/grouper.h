// Grouper: numbers distinct tuples of integers 0, 1, 2, ... in order of first appearance, so that
// sums can be kept in plain vectors. The heart of every "group by".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace borescope::internal {

class Grouper {
 public:
  // Tuples have `width` members.
  explicit Grouper(size_t width);

  // The number of `key`, which is new if it was not seen before. REQUIRES: key.size() == width.
  uint32_t Find(std::span<const int64_t> key);

  size_t size() const { return size_; }
  std::span<const int64_t> key(size_t group) const { return {&keys_[group * width_], width_}; }

 private:
  // Whether a tuple is kept in places_, not in slots_.
  bool IsPlaced(std::span<const int64_t> key) const;
  uint32_t FindPlaced(std::span<const int64_t> key);
  uint32_t Add(std::span<const int64_t> key);
  void Grow();

  size_t width_;
  size_t size_ = 0;
  std::vector<int64_t> keys_;     // size_ tuples, one after another
  std::vector<uint32_t> places_;  // by the number itself; kFree = free
  std::vector<uint32_t> slots_;   // open addressing, power of two; kFree = free
};

}  // namespace borescope::internal
