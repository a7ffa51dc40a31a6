// Windows of time: the meaning of --begin and --end for a trace.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Both ends are included, so that 0 % to 100 % is everything.
struct TimeWindow {
  int64_t begin_ns = std::numeric_limits<int64_t>::min();
  int64_t end_ns = std::numeric_limits<int64_t>::max();

  bool Holds(int64_t ts_ns) const { return begin_ns <= ts_ns && ts_ns <= end_ns; }
};

// One end of a window as requested, before any trace is known:
//
//   (nothing)            open
//   1712195495505543250  nanoseconds of the trace's clock
//   +5ms, 0.5s, 1sec     after its begin; ns (default after a sign), us, ms, s or sec
//   -2.5s                before its end
//   10%                  that share of its span
//   any other text       the earliest begin of a kernel whose name holds the text
struct TimePoint {
  enum class Kind : uint8_t { kOpen, kClock, kAfterBegin, kBeforeEnd, kShare, kKernel };

  Kind kind = Kind::kOpen;
  int64_t number = 0;  // nanoseconds; for a share: millionths of a percent, at most 100 %
  std::string text;    // as written

  bool is_open() const { return kind == Kind::kOpen; }

  // `option` is its name in messages. kInvalidArgument for numbers that are none of these.
  static Result<TimePoint> Parse(std::string_view option, std::string_view text);
};

// The values of --begin and --end.
struct TimeRange {
  TimePoint begin;
  TimePoint end;

  bool is_open() const { return begin.is_open() && end.is_open(); }

  static Result<TimeRange> Parse(std::string_view begin, std::string_view end);
};

// The range on the clock of a trace. kMissingData, naming its file, if no kernel has such a name,
// the window is empty, or it is outside of the recording.
Result<TimeWindow> ResolveWindow(const Trace& trace, const TimeRange& range);

}  // namespace borescope::internal
