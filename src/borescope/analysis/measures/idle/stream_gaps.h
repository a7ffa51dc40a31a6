// The gaps between the work of one stream, each divided at the launch of the work that ends it:
//
//   host_wait    up to the launch: the host was late
//   kernel_wait  after the launch, if that is shorter than a limit: launch latency
//   other        after the launch, if it is longer: dependencies between streams, a full device
//   unlinked     all of the gap: the launch was not recorded
//
// Work without length (clocks of whole microseconds) ends a gap, too. Of several works that begin
// where a gap ends, the one launched first decides.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

enum class WaitCause : uint8_t { kHostWait, kKernelWait, kOther, kUnlinked, kCount };

inline constexpr size_t kWaitCauses = static_cast<size_t>(WaitCause::kCount);

std::string_view WaitCauseName(WaitCause cause);

struct StreamGap {
  Interval time;        // not empty
  int64_t launched_ns;  // within `time`: what comes before is host_wait
  WaitCause rest;       // the cause of what comes after
  HostId launch;        // of the work that ends it, of several what begins first, then what ends
                        // first; invalid: not recorded
  DeviceId before;      // the work that ends last before it; of several the first to start
  DeviceId after;       // the work that begins where it ends; of several the first of its track
};

struct StreamGaps {
  std::vector<StreamGap> gaps;  // by time, disjoint
  HostId first_launch;          // of the first work, as StreamGap::launch
  // First start and last end of the work of the stream; both kMissing if there is none.
  int64_t first_ns = kMissing;
  int64_t last_ns = kMissing;
};

// The gaps of a stream, whose work stands in `tracks`: one of each process that shares it; or,
// given all tracks of a device, the time in which it does nothing at all. Less than
// `kernel_wait_ns` after a launch is kernel_wait. Work of the threads `left_out`,
// tracks of the trace in order, does not count. O(rows of the tracks), times a logarithm if there
// are several.
StreamGaps FindStreamGaps(const RankView& view, std::span<const uint32_t> tracks,
                          int64_t kernel_wait_ns, std::span<const uint32_t> left_out = {});

// Whether a thread is one of `threads`, which are in order.
bool IsAmong(std::span<const uint32_t> threads, TrackId thread);

// Idle time of a stream in some windows by cause, head and tail as well.
struct WaitSums {
  std::array<int64_t, kWaitCauses> by_cause{};
  int64_t head_ns = 0;  // before the first work of the stream
  int64_t tail_ns = 0;  // after its last work; all of it where there is no work is head
  int64_t gaps = 0;     // with time in the windows

  int64_t total_ns() const;
};

// REQUIRES: `windows` is an IntervalSet. O(windows (log gaps) + gaps in them).
WaitSums SumWaits(const StreamGaps& stream, const IntervalSet& windows);

// A gap, and how much of it lies in some windows.
struct GapPart {
  const StreamGap* gap;  // in StreamGaps::gaps
  int64_t ns;            // > 0
};

// Each gap that has time in the windows once, by time, with the sum of its parts inside.
// REQUIRES: `windows` is an IntervalSet. O(windows (log gaps) + gaps in them).
std::vector<GapPart> GapsIn(const StreamGaps& stream, const IntervalSet& windows);

// The lengths of the gaps in the windows, by cause; one that has two causes counts for each with
// the part of that cause, and one that is cut by windows once, with the sum of its parts inside.
std::array<std::vector<int64_t>, kWaitCauses> WaitLengths(const StreamGaps& stream,
                                                          const IntervalSet& windows);

}  // namespace borescope::internal
