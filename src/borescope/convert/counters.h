// What changes over time and no event says: how many launches wait for or run on a stream, and
// whether a GPU works; and what monitors read. For writers of timelines. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/convert/convert.h"

namespace borescope::internal {

struct CounterPoint {
  int64_t ts_ns = 0;
  int64_t value = 0;  // from here on

  friend bool operator==(const CounterPoint&, const CounterPoint&) = default;
};

// The works of a stream that were asked for and have not ended: one more when the launch of a
// kernel, copy or memset begins (or the work itself, where that is earlier), one less when the work
// ends. Work without a recorded launch is left out. By time, one point each; empty without work.
// This is QueueDepth of rocmProfileData's converter, which has it per GPU.
std::vector<CounterPoint> QueueDepth(const ConvertInput& input, TrackId track);

// A GPU and its tracks, which stand together.
struct DeviceTracks {
  int64_t device = 0;
  uint32_t first_track = 0;
  uint32_t end_track = 0;
};

// The devices with tracks, by number.
std::vector<DeviceTracks> DevicesOf(const Trace& trace);

// 1 where any work runs on the device, else 0. By time; empty without work.
std::vector<CounterPoint> BusySteps(const ConvertInput& input, const DeviceTracks& device);

// What a monitor read, with what it belongs to: "cpu 0 power". Parts that were not recorded are
// left out.
std::string MonitorName(const Trace& trace, size_t sample);

}  // namespace borescope::internal
