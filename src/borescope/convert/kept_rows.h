// Which events a part of a recording needs, so that questions about the part have the answers that
// the recording gives.
//
// Events of device and host that overlap the window, and around it
//
//   waiting work   work that was launched before the end of the window and ran, or was still to
//   run,
//                  in it or after it
//   neighbours     of every stream the last work before the window and the first after it: what was
//                  waited for at its edges
//   launches       the calls that launched what is kept
//   callees        of operators that begin in the window and outlive it, what they called later
//   forward passes the operators of which backward ones in the window are the backward
//   callers        the events of the host around all of these, and the steps in which kept work was
//                  launched
#pragma once

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
