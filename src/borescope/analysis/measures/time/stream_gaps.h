// The gaps between the work of one stream, each put down to one cause by the launch of the work
// that ends it:
//
//   host_wait    launched after the gap began: the host was late
//   kernel_wait  launched before, and the gap is shorter than a limit: launch latency
//   other        launched before, and the gap is longer: dependencies between streams, a full GPU
//   unlinked     the launch was not recorded
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
  Interval time;  // not empty
  WaitCause cause;
  int64_t launch_ns;  // of the work that ends it, of several the first; kMissing: not recorded
  DeviceId before;    // the work that ends last before it; of several the first to start
  DeviceId after;     // the work that begins where it ends; of several the first of its track
};

struct StreamGaps {
  std::vector<StreamGap> gaps;  // by time, disjoint
  // First start and last end of the work of the stream; both kMissing if there is none.
  int64_t first_ns = kMissing;
  int64_t last_ns = kMissing;
};

// The gaps of a stream, whose work stands in `tracks`: one of each process that shares it; or,
// given all tracks of a device, the time in which it does nothing at all. Gaps shorter than
// `kernel_wait_ns` after a launch in time are kernel_wait. O(rows of the tracks),
// times a logarithm if there are several.
StreamGaps FindStreamGaps(const RankView& view, std::span<const uint32_t> tracks,
                          int64_t kernel_wait_ns);

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

// The lengths of the gaps in the windows, by cause; a gap that is cut by windows counts once, with
// the sum of its parts inside.
std::array<std::vector<int64_t>, kWaitCauses> WaitLengths(const StreamGaps& stream,
                                                          const IntervalSet& windows);

}  // namespace borescope::internal
