// How the devices that one process drives share its work: how long each works, whether they work at
// the same time, and how long one idles because another works.
//
// A device idles because of another of its process while that other works, and
//
//   unrecorded  launched work is held back until work of the other ends (kUsualDelayNs before)
//   device      the same for less than 100 us, but longer than kUsualDelayNs
//   sync        the thread that launches the next work waits: for the other, as this one is done
//   host        that thread is in a long launch call for the other (kOrdinaryLaunchNs), as of a
//               full queue
//   tail        it has no more work in the recording
//
// (causes of idle_causes.h). Other idle time is no matter of the other device, whatever that does
// meanwhile. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

// A device in the selected time.
struct DeviceUse {
  int64_t gpu = kMissing;
  int64_t process = kMissing;  // that launched most of its work; kMissing: not recorded, or it is
                               // hardly used
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  bool is_hardly_used = false;
  // Of all devices of the process, without those that are hardly used: in which time one or more
  // of them work, and two or more. 0 where it drives only one.
  int64_t any_ns = 0;
  int64_t together_ns = 0;
  // Idle time because of another device of the process, by cause.
  std::array<int64_t, static_cast<size_t>(IdleCause::kCount)> held_ns{};
  int64_t held_at_begin_ns = 0;  // of unrecorded, before the first work of the device
  Interval longest;              // of that time, on the clock of the device; empty: none
};

// Whether each of the devices is hardly used in the selected time (IsHardlyUsed). O(intervals).
std::vector<char> FindHardlyUsed(const IdleTimes& idle);

// In the order of `idle.devices`. O(rows log rows) for a rank with several devices.
std::vector<DeviceUse> FindDeviceUse(const RankView& view, const IdleTimes& idle);

}  // namespace borescope::internal
