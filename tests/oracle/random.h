// Random: repeatable choices for tests. A seed makes one case; print it on failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace borescope::internal::testkit {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

  // A number below `limit`, which must be positive.
  uint64_t Below(uint64_t limit) { return engine_() % limit; }
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  bool Chance(double probability) {
    return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability;
  }
  template <class Range>
  const auto& Pick(const Range& range) {
    return range[Below(std::size(range))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace borescope::internal::testkit
