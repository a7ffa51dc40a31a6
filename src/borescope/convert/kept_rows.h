// Which events a part of a recording needs, so that questions about the part have the same answers
// as in the whole recording.
//
// These are the events of device and host that overlap the window, and
//
//   waiting work    work that was launched before the end of the window and ran, or was still to
//                   run, in it or after it
//   neighbours      for every stream the last work before the window and the first after it, which
//                   may be waited for at its edges
//   launches        the calls that launched kept work
//   callees         later calls of operators that begin in the window and outlive it
//   forward passes  the forward operators of backward operators in the window
//   callers         the events of the host around all of these, and the steps in which kept work
//                   was launched
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
