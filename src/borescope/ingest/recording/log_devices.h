// What is recorded about devices.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/trace/tables.h"

namespace borescope::internal {

// Adds the device, unless it is there: processes of a recording see the same ones. `text` is the
// JSON object that describes it; members that are not known are passed over.
void AddRecordedDevice(std::vector<DeviceInfo>& devices, uint32_t id, std::string_view text);

// The name of a series of samples.
struct SeriesName {
  std::string_view type;      // "gpu"
  int64_t device = kMissing;  // its number; missing if the text has not this form
  std::string_view name;      // "power"
};
SeriesName ParseSeriesName(std::string_view text);

}  // namespace borescope::internal
