// Why a GPU idles: every gap between device work and the time before the first is divided among
// causes (stream_gaps.h); the time after the last device work of the recording is tail. The causes
// add up exactly to the idle time of the breakdown in the same windows.
//
// Gaps are those of the verb `gaps`: work without length ends one too, and if several begin where a
// gap ends, the one launched first decides.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"
#include "borescope/base/result.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Columns that only the verdict reads. About the gap with the most time of causes host and sync:
// that time, the part of cause sync, and what the host mostly did in it. What the host mostly did
// before it launched the first work. And the time of the host in gaps in which it is short, as an
// ordinary launch takes.
inline constexpr std::string_view kLongestGap = "longest_gap_ns";
inline constexpr std::string_view kLongestGapSync = "longest_gap_sync_ns";
inline constexpr std::string_view kLongestGapEvent = "longest_gap_event";
inline constexpr std::string_view kHeadEvent = "head_event";
inline constexpr std::string_view kShortHost = "short_host_ns";
// Of latency, what would not be idle if the host had not waited for the device before the launch.
inline constexpr std::string_view kLatencyOfSync = "latency_of_sync_ns";
// What the host mostly did in all time of cause host.
inline constexpr std::string_view kHostEvent = "host_event";
// Two parts of cause unrecorded, which are also names in idle_places: before the first work, and
// while the host was in calls whose copies were not recorded.
inline constexpr std::string_view kLateBegin = "late_begin_ns";
inline constexpr std::string_view kUntraced = "untraced_ns";

// In idle_places: the longest pieces of causes host and sync outside of the gap of kLongestGap.
inline constexpr std::string_view kHostBesideGap = "host_beside_longest_gap";
inline constexpr std::string_view kSyncBesideGap = "sync_beside_longest_gap";

// As in the names of columns of idle_causes: "host", "launch_call".
std::string_view IdleCauseName(IdleCause cause);

struct IdlePiece {
  Interval time;  // on the clock of the device, not empty
  IdleCause cause;
  HostId launch;  // the one that decided the cause; invalid: not recorded, or none did
};

// The idle time of one device.
struct DeviceIdle {
  const DeviceTime* time = nullptr;  // of IdleTimes::times
  IntervalSet windows;               // the selected time
  StreamGaps gaps;                   // between all work of the device, in windows or not
  std::vector<IdlePiece> pieces;     // by time, disjoint: all idle time in the windows
  int64_t skew_ns = 0;               // how far the host's clock is ahead of the device's
};

struct IdleTimes {
  SharedDeviceTimes times;
  std::vector<DeviceIdle> devices;  // in the order of `times`
  // Tables idle_causes: rank, gpu, idle_ns, gaps, the causes in ns, and the columns above;
  // late_host: what the host did in the time of causes head and host; and idle_places: for each
  // device and column of idle_causes, when the longest piece of its time was, on the clock of the
  // file, and also when the gap of kLongestGap and the longest pieces outside of it were.
  Tables tables;
};

// Measured once for each question, which has one selection.
std::shared_ptr<const Result<IdleTimes>> SharedIdleTimes(const RankView& view,
                                                         const Selection& selection);

// The table idle_causes without the columns that only the verdict reads.
Table ShownCauses(Table causes);

// The processes whose work decides why a device idles, if several use it. Small work of another
// process comes at unrelated times, and does not explain the time before it.
struct MainProcesses {
  std::vector<int64_t> pids;     // sorted; empty: all
  std::vector<uint32_t> tracks;  // of the device: those that these processes use, and those with
                                 // work of unknown launches
};

// Leaves out the processes whose work on `tracks` takes less than a tenth of the time that the
// busiest process has. O(rows of the tracks * log processes).
MainProcesses FindMainProcesses(const RankView& view, const std::vector<uint32_t>& tracks);

// The threads whose work decides why a device idles, if several use it: Small work of another
// thread, such as copies of a loader, says little about the time before it.
struct MainGap {
  StreamGap gap;
  bool after_small;  // small work ended so shortly before the gap's end that the next work may have
                     // waited for it
};

// The gaps between the work of a device on `tracks`, not counting threads whose work takes less
// than a tenth of the time that the busiest thread has. Empty if there are no such threads. O(n log
// n) for n rows of the tracks.
std::vector<MainGap> FindMainGaps(const RankView& view, std::span<const uint32_t> tracks);

}  // namespace borescope::internal
