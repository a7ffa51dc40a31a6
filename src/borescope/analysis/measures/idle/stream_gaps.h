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
#include "borescope/analysis/measures/idle/host_time.h"
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

// Why a device idles: a gap between its work, divided at the launch of the work that ends it.
//
// Up to the launch the host is late. What of it is
//
//   sync   the host sat in a call that waits (…Synchronize, a blocking copy) when the gap began: as
//          much as it had been blocked by the launch, since it would have launched that much
//          earlier
//   data   the rest, if host annotations or operators of data loading fill at least half of it
//   host   the rest, if they do not
//
// After the launch the host has done its part:
//
//   launch_call  the launch call goes on for kOrdinaryLaunchNs or more: it loads code, allocates
//                memory or instantiates a graph
//   latency      the work begins less than kOrdinaryLaunchNs after the launch began, or, after a
//                call that took that long, less than that after it ended
//   device       launched longer ago, and the gap is shorter: the time between queued work, and
//                dependencies between streams
//   unrecorded   launched longer ago, and yet the device seems idle for as long: something that was
//                not recorded held the work back (other processes, work from before the recording,
//                other devices, the host)
//
//   unknown      all of the gap, if the launch was not recorded
//
//   inherited    what of a gap is before the end of the last work of the device that was launched
//                before the recording: the recorded part of the program is not the reason for it
//
// While the host sits in a call that copies, of which no work was recorded, the device may have
// copied: up to the launch such time is unrecorded, and the rest is divided without it.
//
// The time before the first work of a recording is divided in the same way, but nothing is known of
// the time before. Where work was recorded that was launched earlier (inherited_work.h), the device
// had something to do:
//
//   before_recording  the first work is such work itself; or the host waits for a device, and no
//                     work of any was recorded yet; or the work was launched kOrdinaryLaunchNs ago
//                     or more and has not begun
//   head              the rest up to the launch, unless it is data; all of it, if the launch was
//                     not recorded
//
// Elsewhere nothing shows that there was any: waiting is a part of head, and work that begins late
// was held back by what was not recorded.

enum class IdleCause : uint8_t {
  kHead,
  kBeforeRecording,
  kInherited,
  kTail,
  kSync,
  kData,
  kHost,
  kLaunchCall,
  kLatency,
  kDevice,
  kUnrecorded,
  kUnknown,
  kCount
};

// Launch calls take 5 to 20 us, and work on an idle device begins as soon after: five times that is
// out of the ordinary.
inline constexpr int64_t kOrdinaryLaunchNs = 100'000;

// Work begins by itself within this time after all that it waits for.
inline constexpr int64_t kUsualDelayNs = 20'000;

// Clocks of host and device agree to microseconds only: a wait that seems to end by at most this
// much before the work does is the wait for it.
inline constexpr int64_t kClockDoubtNs = 10'000;

struct IdlePart {
  Interval time;  // not empty
  IdleCause cause;
};

// A launch call; both kMissing: not recorded.
struct LaunchTime {
  int64_t begin_ns = kMissing;
  int64_t end_ns = kMissing;
};

// When the host has done its part: the begin of the call, or the end of one that takes long.
int64_t ReadyTime(LaunchTime launch);

// Replaces `parts` by those of a gap between works, by time: they fill it. O(log of the host's
// sets) and what of them lies in the gap.
void DivideGap(Interval gap, LaunchTime launch, const HostTime& host, std::vector<IdlePart>& parts);

// What is known of the begin of a recording.
struct RecordingBegin {
  bool has_inherited = false;  // the device has work that was launched before
  int64_t first_work_ns = 0;   // when the first work of all devices began
};

// The same for the time from the begin of the recording to the first work of a device.
void DivideHead(Interval head, LaunchTime launch, const RecordingBegin& begin, const HostTime& host,
                std::vector<IdlePart>& parts);

}  // namespace borescope::internal
