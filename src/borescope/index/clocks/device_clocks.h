// Estimates how far the clock of each device is from that of the host, from what every recording
// satisfies: no work begins before its launch call begins, and no wait ends before the work that it
// waits for. docs/how-it-works/critical-path.md has the definition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// Profilers align the clocks of host and device to microseconds. A record that needs a larger skew
// than this is wrong.
inline constexpr int64_t kMostSkewNs = 1'000'000;
// Clocks drift: after the correction, a dependency may still appear to lead back by this much.
inline constexpr int64_t kMostDriftNs = 100'000;

// A call that does not end before that work does.
struct WaitPair {
  DeviceId work;
  HostId call;
  bool inferred = false;
};

struct DeviceClock {
  int64_t device = 0;   // number, as recorded
  int64_t skew_ns = 0;  // time on the clock of the host = recorded time + skew
  // The least skew that recorded launches allow, and the largest that recorded waits allow, of
  // those within kMostSkewNs; kMissing: no such pair.
  int64_t lowest_ns = kMissing;
  int64_t highest_ns = kMissing;
  int64_t launches = 0;       // pairs of a launch call and work
  int64_t waits = 0;          // pairs of recorded work and call
  int64_t inferred = 0;       // pairs of inferred ones
  int64_t contradicting = 0;  // of all these pairs, those that do not hold with the skew

  bool operator==(const DeviceClock&) const = default;
};

// The estimated clocks of devices. Without clocks the skew is 0 everywhere.
struct DeviceClocks {
  std::vector<DeviceClock> clocks;     // of the devices with pairs, by number
  std::vector<int64_t> track_skew_ns;  // per track; empty: all 0

  int64_t SkewOf(TrackId track) const {
    return track_skew_ns.empty() ? 0 : track_skew_ns[track.value];
  }
};

// The skew with the least sum of contradictions with launches and recorded waits. Of several such
// values, one that inferred waits allow too is preferred, then the one nearest to 0. Pairs that
// need more than kMostSkewNs do not count. O(events + waits + c log c), where c pairs contradict
// each other.
DeviceClocks EstimateClocks(const Trace& trace, const Correlation& correlation,
                            std::span<const WaitPair> waits);

}  // namespace borescope::internal
