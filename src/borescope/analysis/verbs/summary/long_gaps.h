// Whether it is one event that lets devices wait for the host, such as code that is loaded at a
// first launch, or a pattern of the program. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/analysis/verbs/summary/summary_tables.h"

namespace borescope::internal {

struct LongGaps {
  int64_t devices = 0;            // that have one; 0: it is a pattern
  int64_t ns = 0;                 // of their gaps, as far as the host is to blame
  int64_t sync_ns = 0;            // of this after it had waited for the device
  int64_t span_ns = 0;            // of these devices, without what is left out of it (left_out.h)
  size_t longest = 0;             // row of idle_causes; of gaps as long the first
  std::vector<size_t> rows = {};  // of idle_causes: these devices

  double share() const;  // of the span
};

// A device has a long gap where one makes up most of what the host is to blame for on it, in
// synchronisation or not, and is several times as long as the others there. Devices that wait for
// one thing each have their own, about as long. Together they must be most of what the host is to
// blame for on all devices: beside the pattern of the others a gap that stands out on its own
// device is nothing.
LongGaps FindLongGaps(const SummaryTables& tables);

}  // namespace borescope::internal
