// A small random number generator whose sequence is part of the scenario's definition: the
// standard library's distributions differ between implementations, these numbers never do.
#pragma once

#include <cstdint>

namespace borescope::scenario {

// SplitMix64: turns related seeds (seed, seed + 1, ...) into unrelated ones.
constexpr uint64_t MixSeed(uint64_t seed) {
  uint64_t z = seed + 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// xoshiro256**. Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed = MixSeed(seed);
      word = seed;
    }
  }

  uint64_t Next() {
    const uint64_t result = Rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = Rotate(state_[3], 45);
    return result;
  }

  // A number in [0, bound). REQUIRES: 0 < bound < 2^32. The bias is below 2^-32 and irrelevant.
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(((Next() >> 32) * static_cast<uint64_t>(bound)) >> 32);
  }

  // `value` changed by up to ±`permille` thousandths.
  int64_t Jitter(int64_t value, int64_t permille) {
    return value + value * (Below(2 * permille + 1) - permille) / 1000;
  }

 private:
  static constexpr uint64_t Rotate(uint64_t value, int bits) {
    return (value << bits) | (value >> (64 - bits));
  }

  uint64_t state_[4] = {};
};

}  // namespace borescope::scenario
