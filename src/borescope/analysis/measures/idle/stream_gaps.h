// The gaps between the work of one stream or device, each divided at the launch of the work that
// ends it:
//
//   host_wait    up to the launch: the host was late
//   kernel_wait  after the launch, if that is shorter than a limit: launch latency
//   other        after the launch, if it is longer: dependencies between streams, a full device
//   unlinked     the whole gap, if the launch was not recorded
//
// Work without length (clocks of whole microseconds) ends a gap too. If several begin where a gap
// ends, the one launched first decides.
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
  HostId launch;    // of the work that ends it; of several calls the first to begin, then the first
                    // to end; invalid: not recorded
  DeviceId before;  // the work that ends last before it; of several the first to start
  DeviceId after;   // the work that begins where it ends; of several the first of its track
};

struct StreamGaps {
  std::vector<StreamGap> gaps;  // by time, disjoint
  HostId first_launch;          // of the first work, chosen as StreamGap::launch
  // First start and last end of the work of the stream; both kMissing if there is none.
  int64_t first_ns = kMissing;
  int64_t last_ns = kMissing;
};

// The gaps of a stream with the given tracks, one for each process that shares it; or, given all
// tracks of a device, the time in which the device does nothing at all. A part after a launch that
// is shorter than `kernel_wait_ns` is kernel_wait. Work launched by the threads `left_out`, tracks
// of the trace in order, does not count. O(n) for n rows of one track, O(n log n) for several.
StreamGaps FindStreamGaps(const RankView& view, std::span<const uint32_t> tracks,
                          int64_t kernel_wait_ns, std::span<const uint32_t> left_out = {});

// Whether a thread is one of `threads`, which are sorted.
bool IsAmong(std::span<const uint32_t> threads, TrackId thread);

// Idle time of a stream in windows, by cause, with head and tail.
struct WaitSums {
  std::array<int64_t, kWaitCauses> by_cause{};
  int64_t head_ns = 0;  // before the first work of the stream
  int64_t tail_ns = 0;  // after its last work; without any work all time is head
  int64_t gaps = 0;     // that have time in the windows

  int64_t total_ns() const;
};

// REQUIRES: `windows` is an IntervalSet. O(windows (log gaps) + gaps in them).
WaitSums SumWaits(const StreamGaps& stream, const IntervalSet& windows);

// A gap, and how much of it is in the windows.
struct GapPart {
  const StreamGap* gap;  // in StreamGaps::gaps
  int64_t ns;            // > 0
};

// The gaps that have time in the windows, each once, by time, with the sum of its parts inside.
// REQUIRES: `windows` is an IntervalSet. O(windows (log gaps) + gaps in them).
std::vector<GapPart> GapsIn(const StreamGaps& stream, const IntervalSet& windows);

// The lengths of the gaps in the windows, by cause. A gap with two causes counts for each with the
// part of that cause; a gap that the windows cut counts once, with the sum of its parts inside.
std::array<std::vector<int64_t>, kWaitCauses> WaitLengths(const StreamGaps& stream,
                                                          const IntervalSet& windows);

// The causes for which a device idles, by dividing each gap between its work at the launch of the
// work that ends it.
//
// Up to the launch the host is late. This time is
//
//   sync  as far as the host was in a call that waits (…Synchronize, a blocking copy) when the gap
//         began: as much time as it was blocked, since without the wait it would have launched that
//         much earlier
//   data  for the rest, if host annotations or operators of data loading fill at least half of it
//   host  for the rest, if they do not
//
// After the launch the host has done its part:
//
//   launch_call  the launch call takes kOrdinaryLaunchNs or more: it loads code, allocates memory
//                or instantiates a graph
//   latency      the work begins less than kOrdinaryLaunchNs after the launch began, or, after a
//                call that took that long, less than that after it ended
//   device       the work was launched longer ago, and the gap is shorter than that: time between
//                queued work, and dependencies between streams
//   unrecorded   the work was launched longer ago, and the device seems idle all that time:
//                another device (device_use.h), or something that was not recorded, held the work
//                back (other processes, work from before the recording, other devices, the host)
//   unknown      the whole gap, if the launch was not recorded
//   inherited    the part of a gap before the end of the device's last work that was launched
//                before the recording: the recorded part of the program is not the reason for it
//
// While the host is in a call that copies, and the copy was not recorded, the device may have been
// copying: up to the launch such time is unrecorded, and the rest is divided without it.
//
// The time before the first work of a recording is divided in the same way, but what came before it
// is unknown. If the recording has work that was launched before it (inherited_work.h), the device
// had something to do:
//
//   before_recording  the first work is such work itself; or the host waits for a device before any
//                     device has recorded work; or the work was launched kOrdinaryLaunchNs or more
//                     earlier and has not begun
//   head              the rest up to the launch, unless it is data; all of the time, if the launch
//                     was not recorded
//
// Otherwise nothing shows that there was such work: then waiting is part of head, and work that
// begins late was held back by something unrecorded.
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

// Launch calls take 5 to 20 us, and work on an idle device begins within as long after them. Five
// times as long is not ordinary.
inline constexpr int64_t kOrdinaryLaunchNs = 100'000;

// Work begins within this time after everything that it waits for, unless something else holds it
// back.
inline constexpr int64_t kUsualDelayNs = 20'000;

// Clocks of host and device agree only to microseconds: a wait that seems to end up to this much
// before the work ends is taken as the wait for it.
inline constexpr int64_t kClockDoubtNs = 10'000;

struct IdlePart {
  Interval time;  // not empty
  IdleCause cause;
};

// A launch call; both are kMissing if it was not recorded.
struct LaunchTime {
  int64_t begin_ns = kMissing;
  int64_t end_ns = kMissing;
};

// For how much longer than `late`, a gap up to the launch that ends it, the host had been blocked
// when the gap began: had it not waited, it would have launched that long before the gap, and the
// latency of the launch would not be in it. 0 where it was not blocked, or not for all of `late`.
int64_t BlockedBeyond(Interval late, const HostTime& host);

// When the host has done its part: the begin of the call, or its end if it takes long.
int64_t ReadyTime(LaunchTime launch);

// Sets `parts` to those of a gap between works, by time; they fill the gap. O(log n + m) for n
// intervals of `host`, m of them in the gap.
void DivideGap(Interval gap, LaunchTime launch, const HostTime& host, std::vector<IdlePart>& parts);

// What is known about the begin of a recording.
struct RecordingBegin {
  bool has_inherited = false;  // the device has work that was launched before the recording
  int64_t first_work_ns = 0;   // when the first work of all devices began
};

// The same for the time from the begin of the recording to the first work of a device.
void DivideHead(Interval head, LaunchTime launch, const RecordingBegin& begin, const HostTime& host,
                std::vector<IdlePart>& parts);

}  // namespace borescope::internal
