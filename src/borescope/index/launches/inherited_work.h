// Device work whose launch was not recorded, of two kinds:
//
//   inherited  launched before the recording began, as the host runs ahead of the device. It comes
//              first on its stream, and its correlation number is below that of every recorded call
//   lost       launched inside the recording: a call is missing
//
// Inherited work occupies the device, but says nothing about what the recorded part of the program
// does. So rates and the use of a device are computed over the time after it, its rate window.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "borescope/base/column_data.h"
#include "borescope/base/intervals.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

enum class LaunchOrigin : uint8_t {
  kRecorded,
  kInherited,
  kLost,
  // No launch of any work is in the recording, as its profiler records none, and the operator of
  // this work is known without.
  kNotNeeded,
};

// The inherited work of one device.
struct InheritedByDevice {
  int64_t works = 0;
  int64_t device_ns = 0;  // sum of their durations
  int64_t cut_ns = 0;     // when the last of it ends, which is the begin of the rate window
};

struct InheritedWork {
  // Per device row; kRecorded also for rows that are not work. Empty: all work has a recorded
  // launch.
  ColumnData<LaunchOrigin> origin;
  std::vector<char> has_on_track;                // per track; empty as `origin`
  std::map<int64_t, InheritedByDevice> devices;  // by number, only devices with inherited work

  LaunchOrigin OriginOf(DeviceId id) const {
    return origin.empty() ? LaunchOrigin::kRecorded : origin[id.value];
  }
  bool IsInherited(DeviceId id) const { return OriginOf(id) == LaunchOrigin::kInherited; }
  // Whether one of these tracks has inherited work.
  bool IsOnAny(std::span<const uint32_t> tracks) const;
  // The inherited rows of all devices, ascending.
  std::vector<DeviceId> Rows() const;
  // nullptr if the device inherited nothing.
  const InheritedByDevice* On(int64_t gpu) const;
  // `windows` of a device without the time before its cut.
  IntervalSet RateWindow(int64_t gpu, const IntervalSet& windows) const;
};

// Work without a recorded launch is inherited if none with one comes before it on its stream and
// its correlation number is below the least of the recorded calls of its process; where numbers
// were not recorded, if its stream has launched work later, or it starts before the first launch
// call of its process. A process without any recorded launch inherits nothing. O(rows). Reads only
// `launch_of` of `correlation`.
InheritedWork FindInheritedWork(const Trace& trace, const Correlation& correlation);

}  // namespace borescope::internal
