// Which events a part of a recording needs, so that what is asked of the part has the answer that the
// recording gives about it.
//
// Events of device and host that overlap the window, and around it
//
//   launches   the calls that launched what is kept, and the work that calls in the window launched
//   neighbours of every stream the last work before the window and the first after it: what was
//              waited for at its edges
//   callers    the events of the host around all of these, and around what is kept
//
// A part of steps has all that overlaps their time on the host and on devices.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/index/time_window.h"
#include "borescope/index/trace_index.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

struct KeptRows {
  std::vector<char> host;    // by row: 1 if kept
  std::vector<char> device;  // likewise
};

// O(rows). Pure.
KeptRows RowsOfWindow(const Trace& trace, const TraceIndex& index, const TimeWindow& window);

}  // namespace borescope::internal
