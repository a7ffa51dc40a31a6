// What the host did when, as far as it explains why a device idles: when it waited or loaded data,
// its launch calls, and what its threads did at each instant. Pure functions.
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
  // In calls that copy, but whose copies were not recorded. The device may have been copying, so
  // these calls are not in `blocked`.
  IntervalSet untraced = {};
};

// HostTime of all processes, found in one pass. Thread-safe once it is made.
class HostTimes {
 public:
  // O(rows of the host).
  explicit HostTimes(const RankView& view);

  const HostTime& all() const { return all_; }
  // HostTime of the processes with these numbers. O(their calls and annotations of these kinds).
  HostTime Of(std::span<const int64_t> pids) const;

 private:
  std::map<int64_t, HostTime> by_process_;
  HostTime all_;
};

// What the thread of a launch did in `time`: the innermost of its events that fill at least half of
// it. Invalid if no event does, or if `launch` is invalid. O(rows of the thread).
HostId MainEventIn(const Trace& trace, HostId launch, Interval time);

// `row`, a later row of the thread, if it fills at least half of `time` and is not longer than
// `innermost`; else `innermost`, which may be invalid.
HostId InnerOf(const HostEvents& host, HostId innermost, HostId row, Interval time);

// Data loading: work of the host that prepares the next batch, recognised by names.

// By StringId: 1 if the name is one of data loading, or contains `also`, unless that is empty.
std::vector<char> FindDataLoading(const Trace& trace, std::string_view also = {});

// By StringId: 1 if events of the name take a batch that other processes prepare, and so mostly
// wait for them.
std::vector<char> FindArrivals(const Trace& trace);

// The launch calls of a rank with the device work that each of them started: one for most calls,
// none for a call whose work was not recorded, many for a graph launch. This works for every
// vendor, as the index links work to calls by correlation number and not by name.

// Sets `works` to the kernels, memcpys and memsets that a runtime call started, by start.
void FindWorks(const RankView& view, HostId call, std::vector<DeviceId>& works);

// Runtime calls that started device work, by start, then by thread.
std::vector<HostId> CallsWithWork(const RankView& view);

// Calls in the selected time whose name is that of a launch, but whose correlation number no device
// work carries. (A wrapper around another launch has the same number, so it is not counted.)
int64_t CountCallsWithoutWork(const RankView& view, const Selected& selected);

// A call whose copy was not recorded.
struct CopyWithoutRecord {
  HostId call;
  HostId wait;  // the next call of the thread, if it waits for an asynchronous copy; else invalid
};

// Calls that block until they have copied, but whose copy was not recorded, neither with their own
// number nor with that of a call inside them. An asynchronous call is one of them if, with the wait
// after it, it lasts 100 us or more in which no device of the rank works by its records: then it
// copied from pageable memory, or was waited for. Asynchronous calls of graph captures, which copy
// nothing, are none. None at all if copies were recorded without their calls, as these may be their
// copies. In row order. O(rows log rows).
std::vector<CopyWithoutRecord> CopiesWithoutRecord(const RankView& view);

// From the begin of such a call to the end of the wait after it.
Interval TimeOf(const HostEvents& host, const CopyWithoutRecord& copy);

// The calls whose name is that of a launch or an asynchronous copy, if there are three calls or
// more of this name and none has work: then work of their kind was not recorded. None in recordings
// of graph captures, whose calls start no work, and in those without device work.
// CopiesWithoutRecord may have some of them, too. In row order. O(rows).
std::vector<HostId> CallsOfUntracedKinds(const RankView& view);

// From the end of the call to the start of the work; 0 if the work starts earlier.
int64_t LaunchDelay(const RankView& view, HostId call, DeviceId work);

// What a thread of the host did at each instant, by the first of these that is known:
//
//   call          it was in a call: if in several, the outermost, which is the program's own
//   no processor  the thread was not running on a processor
//   sampled       a call stack was sampled, at this instant or less than two periods earlier: its
//                 innermost frame with a name
//   event         it was in an operator, a range or a frame: the innermost
//   unknown       nothing was recorded
enum class HostActivity : uint8_t { kCall, kNoProcessor, kSampled, kEvent, kUnknown, kCount };

std::string_view HostActivityName(HostActivity activity);

// Whether the name does not say what was done: it is invalid, or the name of a step.
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

// Calls `use` with the pieces of what the thread did in `times`; the pieces fill these times.
// REQUIRES: `times` is sorted, disjoint and not empty; `period_ns` is from SamplingPeriod. O(rows
// of the thread).
void WalkHostPieces(const RankView& view, TrackId track, std::span<const Interval> times,
                    int64_t period_ns, const UseHostPiece& use);

// The rows of one thread in a table that is sorted by thread: the first, and one past the last.
std::pair<size_t, size_t> RowsOfThread(const ColumnData<TrackId>& tracks, TrackId track);

// The sampling period: the median time between consecutive samples of a thread, over all threads;
// the lower one of an even number. 0 if no thread has two samples.
int64_t SamplingPeriod(const Trace& trace);

}  // namespace borescope::internal
