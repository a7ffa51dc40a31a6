// Values over time that are not events: how many launches wait for or run on a stream, whether a
// GPU works, and the names of what monitors measured. For writers of timelines. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/convert/convert.h"

namespace borescope::internal {

struct CounterPoint {
  int64_t ts_ns = 0;
  int64_t value = 0;  // from this time on

  friend bool operator==(const CounterPoint&, const CounterPoint&) = default;
};

// How much work of a stream was requested and has not ended: one more when the launch of a kernel,
// copy or memset begins (or the work itself, if that is earlier), one less when the work ends. Work
// without a recorded launch is left out. By time, at most one point for each time; empty without
// work. This is QueueDepth of rocmProfileData's converter, which has it per GPU.
std::vector<CounterPoint> QueueDepth(const ConvertInput& input, TrackId track);

// A GPU and its tracks, which are consecutive.
struct DeviceTracks {
  int64_t device = 0;
  uint32_t first_track = 0;
  uint32_t end_track = 0;
};

// The devices with tracks, by number.
std::vector<DeviceTracks> DevicesOf(const Trace& trace);

// 1 while any work runs on the device, else 0. By time; empty without work.
std::vector<CounterPoint> BusySteps(const ConvertInput& input, const DeviceTracks& device);

// What a monitor measured, and where: "cpu 0 power". Parts that were not recorded are left out.
std::string MonitorName(const Trace& trace, size_t sample);

}  // namespace borescope::internal
