// Why a GPU idles: every gap between device work and the time before the first is divided among
// causes (idle_division.h); the time after the last device work of the recording is tail. All add
// up to the idle time of the breakdown, exactly, in the same windows.
//
// Gaps are those of `gaps`: work without length ends one, too, and of several works that begin
// where a gap ends the one launched first decides.
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

// What only the verdict reads: of the gap with the most time of the host, synchronised or not, that
// time, the part of it that is synchronisation, and what the host mostly did in it; what it mostly
// did before it launched the first work; and the time of the host in gaps in which it is short: as
// it takes to launch.
inline constexpr std::string_view kLongestGap = "longest_gap_ns";
inline constexpr std::string_view kLongestGapSync = "longest_gap_sync_ns";
inline constexpr std::string_view kLongestGapEvent = "longest_gap_event";
inline constexpr std::string_view kHeadEvent = "head_event";
inline constexpr std::string_view kShortHost = "short_host_ns";
// What it mostly did in all time of cause host.
inline constexpr std::string_view kHostEvent = "host_event";
// Two parts of cause unrecorded, which have names in idle_places, too: before the first work, and
// while the host was in calls whose copies were not recorded.
inline constexpr std::string_view kLateBegin = "late_begin_ns";
inline constexpr std::string_view kUntraced = "untraced_ns";

// In idle_places: the longest pieces of causes host and sync that are not in the gap of
// kLongestGap.
inline constexpr std::string_view kHostBesideGap = "host_beside_longest_gap";
inline constexpr std::string_view kSyncBesideGap = "sync_beside_longest_gap";

// As in the columns of idle_causes: "host", "launch_call".
std::string_view IdleCauseName(IdleCause cause);

struct IdlePiece {
  Interval time;  // on the clock of the device, not empty
  IdleCause cause;
  HostId launch;  // the one that decided the cause; invalid: not recorded, or there is none
};

// The idle time of one device.
struct DeviceIdle {
  const DeviceTime* time = nullptr;  // of IdleTimes::times
  IntervalSet windows;               // the selected time
  StreamGaps gaps;                   // between all work of the device, in windows or not
  std::vector<IdlePiece> pieces;     // by time, disjoint: all idle time in the windows
  int64_t skew_ns = 0;               // of the host's clock, which is ahead by it
};

struct IdleTimes {
  SharedDeviceTimes times;
  std::vector<DeviceIdle> devices;  // in the order of `times`
  // Tables idle_causes: rank, gpu, idle_ns, gaps, the causes in ns, and the columns above;
  // late_host: what the host did in the time of causes head and host; and idle_places: of each
  // device and column of idle_causes when the longest piece of its time was, on the clock of the
  // file, when the gap of kLongestGap was, and when the longest pieces beside it were.
  Tables tables;
};

// Of one question, which has one selection, they are measured once.
std::shared_ptr<const Result<IdleTimes>> SharedIdleTimes(const RankView& view,
                                                         const Selection& selection);

// The same as people see it: without what only the verdict reads.
Table ShownCauses(Table causes);

// The processes whose work decides why a device idles, if several use it: small work of another
// one, which comes when it comes, explains nothing about the time before it.

struct MainProcesses {
  std::vector<int64_t> pids;     // sorted; empty: all
  std::vector<uint32_t> tracks;  // of a device: those that they use, and those of unknown launches
};

// Without the processes whose work on `tracks` takes less than a tenth of the time of that of the
// busiest. O(rows of the tracks * log processes).
MainProcesses FindMainProcesses(const RankView& view, const std::vector<uint32_t>& tracks);

// The threads whose work decides why a device idles, if several use it: small work of another one,
// such as copies of a loader, says little about the time before it.

struct MainGap {
  StreamGap gap;
  bool after_small;  // small work ended so shortly before its end that this may have waited for it
};

// The gaps between the work of a device, which is on `tracks`, without that of threads whose
// work takes less than a tenth of the time of that of the busiest thread. Empty: no thread has so
// little. O(rows of the tracks), times a logarithm.
std::vector<MainGap> FindMainGaps(const RankView& view, std::span<const uint32_t> tracks);

}  // namespace borescope::internal
