// Times of a vendor's library on our clock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/fields.h"

namespace borescope::inject {

// Any thread.
class VendorClock {
 public:
  constexpr VendorClock() = default;

  // How far the library's clock is ahead of ours.
  void SetAhead(int64_t ahead_ns) { ahead_ns_.store(ahead_ns, std::memory_order_relaxed); }

  // A time in a record; 0, which is no time, stays.
  uint64_t TimeAt(const Fields& fields, size_t offset) const {
    const uint64_t time = fields.U64(offset);
    const auto ahead = static_cast<uint64_t>(ahead_ns_.load(std::memory_order_relaxed));
    return time == 0 ? 0 : time - ahead;
  }

 private:
  std::atomic<int64_t> ahead_ns_ = 0;
};

// Our log has 32 bits of the number that ties work to its launch.
inline uint32_t CorrelationAt(const Fields& fields, size_t offset) {
  return static_cast<uint32_t>(fields.U64(offset));
}

}  // namespace borescope::inject
