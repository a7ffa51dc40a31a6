// How much memory is held when: the levels behind the allocator events of a recording.
//
// Allocator events of a trace carry the totals of their device as the allocator knew them; files
// from before those totals were recorded give the running sum of the bytes instead, which starts at
// 0 however much was held before. Raw memory timelines carry a category, and the running sum of
// each category is exact, because what was there before has entries of its own. A running sum that
// leaves 64 bits is kMissing from there on, until the allocator records its total again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/intervals.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// What one device holds after one allocator event.
struct MemoryLevel {
  uint32_t event = 0;  // row of MemoryEvents
  int64_t ts_ns = 0;
  int64_t allocated = 0;        // bytes, or kMissing
  int64_t reserved = kMissing;  // bytes; not in files without totals
  bool is_recorded = true;      // `allocated` is the allocator's own number, not a running sum
};

struct DeviceMemory {
  int32_t type = -1;  // as MemoryEvents::device_type
  int32_t index = -1;
  std::vector<MemoryLevel> levels;  // by time
};

// "cuda:0", "cpu"; by c10::DeviceType (c10/core/DeviceType.h).
std::string MemoryDeviceName(int32_t type, int32_t index);

// The levels that events without a category make, by device type and number.
std::vector<DeviceMemory> DeviceLevels(const Trace& trace);

inline constexpr size_t kMemoryCategories = static_cast<size_t>(MemoryCategory::kNone);
// REQUIRES: not kNone.
std::string_view MemoryCategoryName(MemoryCategory category);

// What each category holds after everything that happened at `ts_ns`.
struct CategoryLevel {
  int64_t ts_ns = 0;                              // kMissing: before the recording
  std::array<int64_t, kMemoryCategories> held{};  // bytes, or kMissing

  int64_t Sum() const;  // kMissing if one of them is, or if it leaves 64 bits
};

// The levels that events with a category make: one for every time that has events.
std::vector<CategoryLevel> CategoryLevels(const Trace& trace);

// The first of the largest levels within some windows, by `value(level)`. A level also counts from
// the start of a window that it reaches into. `at_ns` is when it is reached in the windows.
struct HighestLevel {
  size_t level = 0;
  int64_t at_ns = 0;
  bool found = false;
};

template <class Level, class Value>
HighestLevel FindPeak(const std::vector<Level>& levels, const IntervalSet& windows,
                      const Value& value) {
  HighestLevel peak;
  const auto consider = [&](size_t level, int64_t at_ns) {
    if (!peak.found || value(levels[level]) > value(levels[peak.level])) {
      peak = {level, at_ns, true};
    }
  };
  for (const Interval& window : windows) {
    const auto first = std::partition_point(levels.begin(), levels.end(), [&](const Level& level) {
      return level.ts_ns < window.begin;
    });
    auto i = static_cast<size_t>(first - levels.begin());
    if (i > 0) {
      consider(i - 1, window.begin);
    }
    for (; i < levels.size() && levels[i].ts_ns < window.end; ++i) {
      consider(i, levels[i].ts_ns);
    }
  }
  return peak;
}

}  // namespace borescope::internal
