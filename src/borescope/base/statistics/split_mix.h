// Numbers that look random and are the same every time: SplitMix64 (Steele, Lea and Flood 2014,
// "Fast splittable pseudorandom number generators").
#pragma once

#include <cstdint>

namespace borescope::internal {

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
