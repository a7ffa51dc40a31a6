// The table of events from which HTA (of June 2024) builds its event graph, as the reference linker
// asks it to: whole microseconds, links between calls and device work, the first step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/compat/chakra/device_events.h"

namespace borescope::internal::chakra::compat {

struct HtaRow {
  uint32_t event = 0;  // of DeviceTrace::events, and the number of the row
  std::string_view category;
  std::string_view name;
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t begin = 0;  // us
  int64_t duration = 0;
  int64_t stream = kNone;
  int64_t correlation = kNone;
  int64_t wait_on_stream = kNone;
  int64_t wait_on_record_correlation = kNone;
  // The number of the row at the other end of the correlation; 0: unknown, kNone: no correlation.
  int64_t partner = kNone;

  int64_t end() const { return begin + duration; }
};

struct HtaTable {
  std::vector<HtaRow> rows;     // what is left behind the step filter, in its order
  std::vector<int64_t> at;      // by event: where it is in `rows`, or kNone
  std::vector<size_t> clipped;  // of these, those of the first step, by event
  std::string failure;          // why there is no graph; else empty

  // nullptr where there is no such row.
  const HtaRow* Find(int64_t event) const {
    const bool is_there = event >= 0 && event < static_cast<int64_t>(at.size()) &&
                          at[static_cast<size_t>(event)] >= 0;
    return is_there ? &rows[static_cast<size_t>(at[static_cast<size_t>(event)])] : nullptr;
  }
};

HtaTable BuildHtaTable(const DeviceTrace& trace);

// Waits on an event or a context: device rows of which no stream is known.
inline bool WaitsWithoutStream(const HtaRow& row) {
  return row.name == "Event Sync" || row.name == "Context Sync";
}

// Runtime calls that HTA takes for launches.
bool IsHtaLaunch(const HtaRow& row);

}  // namespace borescope::internal::chakra::compat
