// What the host did when, as far as it explains why a device idles. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/id.h"
#include "borescope/base/intervals.h"
#include "borescope/trace/trace.h"

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

// What of the host's work prepares the next batch, as far as names tell.

// By StringId: 1 where the name is one of data loading, or contains `also` if that is not empty.
std::vector<char> FindDataLoading(const Trace& trace, std::string_view also = {});

// By StringId: 1 where the name is that of taking a batch which processes of their own prepare:
// most of its time is the wait for them.
std::vector<char> FindArrivals(const Trace& trace);

// The launch calls of a rank with the device work each of them started: one work for most, none for
// a call whose work was not recorded, many for a graph launch. Whatever the vendor: the index ties
// work to calls by correlation number, not by name.

// Kernels, memcpys and memsets started by a runtime call, by start. Replaces what `works` holds.
void FindWorks(const RankView& view, HostId call, std::vector<DeviceId>& works);

// Runtime calls that started device work, in time order; calls at one time by thread.
std::vector<HostId> CallsWithWork(const RankView& view);

// Calls in the selected time whose name is that of a launch, but whose correlation number no device
// work carries. (A wrapper around another launch has that one's number, so it is not counted.)
int64_t CountCallsWithoutWork(const RankView& view, const Selected& selected);

// Calls that block until they have copied, but whose copy was not recorded: neither by their own
// number nor by that of a call inside them. None where copies were recorded without their calls, as
// these may be the ones. In row order. O(rows).
std::vector<HostId> CopiesWithoutRecord(const RankView& view);

// The calls of names of launches and asynchronous copies of which not one has work, of three calls
// or more: work of their kind was not recorded. None in recordings of graph captures, whose calls
// start nothing, and in those without device work. In row order. O(rows).
std::vector<HostId> CallsOfUntracedKinds(const RankView& view);

// End of the call to start of the work; 0 when the work starts earlier.
int64_t LaunchDelay(const RankView& view, HostId call, DeviceId work);

// What a thread of the host did at each instant, explained by the first of these that is known:
//
//   call          it was in a call: of several the outermost, which is the program's own
//   no processor  the thread did not have one
//   sampled       a call stack was sampled, at this instant or less than two periods earlier: its
//                 innermost frame with a name
//   event         it was in an operator, a range or a frame: the innermost
//   unknown       nothing was recorded

enum class HostActivity : uint8_t { kCall, kNoProcessor, kSampled, kEvent, kUnknown, kCount };

std::string_view HostActivityName(HostActivity activity);

// Whether a name says nothing about what was done: there is none, or it is that of a step.
bool SaysNothing(const Trace& trace, HostActivity activity, StringId name);

struct HostPiece {
  HostActivity activity = HostActivity::kUnknown;
  StringId name = {};       // of the call, function or event; invalid without one
  StringId caller = {};     // of a call with a recorded stack: the function that made it
  StringId operation = {};  // the innermost operator around; invalid outside of any

  std::array<int64_t, 4> Numbers() const {
    return {static_cast<int64_t>(activity), name.value, caller.value, operation.value};
  }
};

using UseHostPiece = std::function<void(const HostPiece& piece, Interval time)>;

// Calls `use` with what the thread did in `times`, in pieces that add up to them. REQUIRES: `times`
// is sorted, disjoint and not empty; `period_ns` is that of SamplingPeriod. O(rows of the thread).
void WalkHostPieces(const RankView& view, TrackId track, std::span<const Interval> times,
                    int64_t period_ns, const UseHostPiece& use);

// The rows of a table sorted by thread that belong to one: the first, and one past the last.
std::pair<size_t, size_t> RowsOfThread(const ColumnData<TrackId>& tracks, TrackId track);

// The sampling period: the median time between two samples of a thread in succession, of several
// threads together; of an even number the lower one. 0 without two samples of a thread.
int64_t SamplingPeriod(const Trace& trace);

}  // namespace borescope::internal
