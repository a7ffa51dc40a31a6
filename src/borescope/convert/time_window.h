// Windows of time: what --begin and --end of `convert` mean for a trace.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/trace/trace.h"

namespace borescope {

// Both ends belong to it, so that 0 % to 100 % is everything.
struct TimeWindow {
  int64_t begin_ns = std::numeric_limits<int64_t>::min();
  int64_t end_ns = std::numeric_limits<int64_t>::max();

  bool Holds(int64_t ts_ns) const { return begin_ns <= ts_ns && ts_ns <= end_ns; }
};

// One end of a window, on the clock of the trace:
//
//   1712195495505543250  nanoseconds of that clock
//   +5ms, -2.5s          after its begin, before its end; ns, us, ms or s
//   10%                  that share of its span
//   any other text       the earliest begin of a kernel whose name holds the text
//
// kInvalidArgument, naming `option`, for numbers that are none and kernels that are not there.
Result<int64_t> ResolveTime(const Trace& trace, std::string_view option, std::string_view text);

// The window from `begin` to `end`, each open where empty. kInvalidArgument also where it is empty.
Result<TimeWindow> ResolveWindow(const Trace& trace, std::string_view begin, std::string_view end);

}  // namespace borescope
