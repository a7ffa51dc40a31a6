// Random numbers by name: the number for (seed, what, rank, step, item) does not depend on which
// other numbers are drawn, so that a change of the program shifts none of the rest.
#pragma once

#include <cstdint>

namespace borescope::simulation {

// What a number is for. New ones go to the end: the place is part of the numbers.
enum class Draw : uint8_t {
  kHost,
  kWork,
  kLag,
  kTransfer,
  kTail,
  kExitBias,
  kStep,
  kRun,
  kRunDevice,
  kClockOffset,
  kClockDrift,
  kClockJump,
  kDeviceClock,
  kShape,
  kSlowOperator,
  kSlowHost,
  kSlowWork,
  kShifted,
  kUnlinked,
};

struct DrawKey {
  uint64_t seed = 0;
  uint64_t run = 0;
  Draw draw = Draw::kHost;
  int32_t rank = 0;
  int32_t thread = 0;
  int32_t step = 0;
  int32_t item = 0;
};

// Turns related numbers into unrelated ones (SplitMix64).
constexpr uint64_t Mix(uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

constexpr uint64_t Bits(const DrawKey& key) {
  const auto word = [](int32_t high, int32_t low) {
    return (static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32) | static_cast<uint32_t>(low);
  };
  uint64_t bits = Mix(Mix(key.seed) + key.run);
  bits = Mix(bits ^ word(static_cast<int32_t>(key.draw) * 65'536 + key.rank, key.thread));
  return Mix(bits ^ word(key.step, key.item));
}

// In [0, 1).
constexpr double Uniform(const DrawKey& key) {
  return static_cast<double>(Bits(key) >> 11) * 0x1p-53;
}

// Of mean 0 and standard deviation 1, within +-3.5: the sum of four uniform numbers.
constexpr double Normal(const DrawKey& key) {
  constexpr double kScale = 1.7320508075688772 / 65'536;
  const uint64_t bits = Bits(key);
  int64_t sum = 0;
  for (int shift = 0; shift < 64; shift += 16) {
    sum += static_cast<int64_t>((bits >> shift) & 0xFFFF);
  }
  return static_cast<double>(sum - 2 * 65'535) * kScale;
}

}  // namespace borescope::simulation
