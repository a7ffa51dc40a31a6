// Repairs of times that cannot be as they are recorded: Python frames that outlive their callers,
// and device work that overruns the next of its own stream.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/trace/string_pool.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// How coarsely the times of a recording were rounded.

// By how much rounding can let an event seem to end after the one it is in, in nanoseconds:
//   1000  all begin at whole microseconds
//   350   all begin at quarters of microseconds: Unix times in microseconds that were written from
//         numbers of double precision (spacing 0.25), as programs in Python that copy traces do; a
//         quarter may be written as .2 or .8, so that each time is off by up to 0.175
//   0     otherwise: times are as recorded
// O(rows).
int64_t RoundingOf(const HostEvents& host);

// Python frames that outlive the frame that called them.

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

// Device work that cannot have run as long as recorded: it runs over later work of its stream.

// Some drivers (AMD's) record a wrong end now and then. In a stream that runs one kernel after the
// other, a kernel that lasts until several later ones have ended is such a case; the kernels in its
// time are right. But streams also overlap for good reasons: branches of a graph, kernels that are
// launched early on purpose (PDL), several queues or streams under one number, communication that
// waits for other ranks. So a kernel is cut only if
//
//  - later kernels of its stream ended in its time, none of its own launch, and it is neither of a
//    graph nor one that waits for others by its name;
//  - few other kernels of the stream overlap, or cover others in the same way;
//  - it lasts many times as long as the other kernels of its name and grid, still more times if
//    only one kernel ended in its time. Where it is the only one of its name: if more kernels ended
//    in its time, no others overlap, and it lasts many times as long as any other kernel of the
//    stream.
//
// A copy or memset is cut in the same way, if later kernels or copies of its stream ended in its
// time, it lasts many times as long as many others of its name and number of bytes, and few of the
// other copies overlap anything. Where many events of a stream overlap, but hardly any covers
// others (kernels that are launched early), one that covers many is cut if it lasts a thousand
// times as long as its peers.
//
// It then ends where the next event of its stream begins, and is counted (kImpossibleDuration).
// True if anything was cut. REQUIRES: sorted rows. O(rows) if nothing covers others.
bool CutOverruns(DeviceEvents& device, const Kernels& kernels, const Copies& copies,
                 const Tracks& tracks, const StringPool& strings, Diagnostics& diagnostics);

}  // namespace borescope::internal
