// What the host did when, as far as it explains why a device idles. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

struct HostTime {
  IntervalSet blocked;  // in calls that wait for a device
  IntervalSet loading;  // in annotations and operators of data loading
  // In calls that copy of which no work was recorded: the device may have copied, so that these are
  // not in `blocked`.
  IntervalSet untraced = {};
};

// Found once for all processes. Thread-safe once it is made.
class HostTimes {
 public:
  // O(rows of the host).
  explicit HostTimes(const RankView& view);

  const HostTime& all() const { return all_; }
  // Of some processes, by number. O(their calls and annotations of these kinds).
  HostTime Of(std::span<const int64_t> pids) const;

 private:
  std::map<int64_t, HostTime> by_process_;
  HostTime all_;
};

// What the thread of a launch did in `time`: of its events that fill at least half of it the
// innermost. Invalid if none does, or the launch is. O(rows of the thread).
HostId MainEventIn(const Trace& trace, HostId launch, Interval time);

// The row that comes after `innermost` on the thread if it fills at least half of `time` and is not
// longer, else `innermost`, which may be invalid.
HostId InnerOf(const HostEvents& host, HostId innermost, HostId row, Interval time);

}  // namespace borescope::internal
