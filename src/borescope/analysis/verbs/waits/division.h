// The time of one rank inside of a collective, divided; and whom the others waited for. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace borescope::internal {

// One rank in a collective, on the clock that all share.
struct Arrival {
  uint32_t rank = 0;
  int64_t enter_ns = 0;
  int64_t leave_ns = 0;
};

// Parts of the time inside; they add up to it, whatever the clocks are.
struct WaitParts {
  int64_t skew_ns = 0;    // it was there, somebody was not
  int64_t common_ns = 0;  // all were inside: the transfer
  int64_t tail_ns = 0;    // somebody had left, it had not
};

// When the last rank entered and the first one left: the transfer is between these; negative where
// clocks are wrong, or somebody left early.
struct CommonTime {
  int64_t all_in_ns = 0;
  int64_t first_out_ns = 0;
};

// REQUIRES: one arrival at least.
CommonTime CommonTimeOf(std::span<const Arrival> arrivals);

// REQUIRES: leave_ns >= enter_ns.
WaitParts DivideWait(const Arrival& arrival, const CommonTime& common);

struct LastArrival {
  size_t last = 0;          // the place of the rank that entered last; of several the first
  int64_t lead_ns = 0;      // from the second last to the last
  int64_t spread_ns = 0;    // from the first to the last
  bool is_certain = false;  // the lead is larger than both errors together
};

// `error_ns`: by rank; the largest number: no times of that rank can be compared.
// REQUIRES: two arrivals at least. O(n log n).
LastArrival FindLast(std::span<const Arrival> arrivals, std::span<const int64_t> error_ns);

}  // namespace borescope::internal
