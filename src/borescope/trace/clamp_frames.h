// Python frames that outlive the frame that called them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/trace/string_pool.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// The numbers that a profiler gives a frame and its caller, while a trace is built. The detail of a
// host event of kind kPython is a row here, without numbers if none were given; or kNoDetail, where
// frames are not from a profiler that watches calls.
struct FrameNumbers {
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::min();  // not recorded
  static constexpr int32_t kNobody = kNone + 1;  // of a caller: the frame is an outermost one
  struct Row {
    int32_t id = kNone;
    int32_t caller = kNone;
  };
  std::vector<Row> rows;
};

// Ends frames that cannot have lasted as long as recorded, each counted (kClampedFrame): a profiler
// that misses the return of a function lets its frame end when the profiler stops, and so contain
// everything that came later.
//
//  - A frame ends with its caller at the latest: the innermost open frame of its thread. Up to what
//    RoundingOf explains it may end later.
//  - A frame that ends last of its thread, or later than its caller, had returned when a frame
//  begins
//    that was called by one further out, or by none: it ends with the last event in it, or there.
//    Without numbers, this is known only of functions in C that seem to call themselves.
//
// Frames that are open when the profiler stops are all still running, and stay as they are. True if
// anything was cut. REQUIRES: sorted rows. Afterwards no frame has a detail. O(rows).
bool ClampFrames(HostEvents& host, const Tracks& tracks, const FrameNumbers& numbers,
                 const StringPool& strings, Diagnostics& diagnostics);

}  // namespace borescope::internal
