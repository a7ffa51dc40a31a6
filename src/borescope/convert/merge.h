// Prepares several traces for one file: unique numbers, one clock, and a name for each.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "borescope/base/result.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Numbers as rocmProfileData has them in files of several nodes: a process has node * kPidStride +
// its own number, a GPU node * kGpuStride + its own number.
inline constexpr int64_t kPidStride = 10'000'000;
inline constexpr int64_t kGpuStride = 1000;

// One trace of an output; by default the only one.
struct MergeSource {
  uint32_t number = 0;  // 0 is the first
  std::string name;     // "rank 3", or the name of its file; empty: the only one
  int64_t node = 0;
  // Its ids of calls, operators and flows are from here up to end_id; both are multiples of 2^32.
  int64_t first_id = 0;
  int64_t end_id = 0;
  int64_t shift_ns = 0;          // what was added to its times
  bool has_common_clock = true;  // whether it shares the clock of the first one
};

// Changes the numbers, ids and times of traces, one after the other, for a common file:
//
//   numbers  A trace keeps the numbers of its processes and GPUs if no trace before it has one of
//            them, else all of them move to the next node in which they are free. Streams, and
//            threads within their process, keep theirs.
//   ids      of calls, operators and flows get the number of the trace in their upper bits, so that
//            nothing of one trace is linked to anything of another.
//   clock    If the first trace and this one say when they were recorded, or their times are Unix
//            times already, times are changed to the clock of the first. Else they stay, and
//            has_common_clock is false.
class Merger {
 public:
  // Called once for each trace, before it is indexed. Ids too large to be moved are dropped and
  // counted. An error if there is no room for its ids after those of earlier traces. `shift_ns`:
  // what to add to its times to get times of the first trace, if that is known better.
  Result<MergeSource> Place(TraceData& data, std::optional<int64_t> shift_ns = std::nullopt);
  // What to add to the times of a trace to get times of the first, from what both recorded about
  // their clocks; nullopt if that is unknown. REQUIRES: the first one is placed.
  std::optional<int64_t> RecordedShift(const TraceData& data) const { return ShiftTo(data); }

 private:
  int64_t FreeNode(const TraceData& data) const;
  // What to add to the times; nullopt if that is unknown.
  std::optional<int64_t> ShiftTo(const TraceData& data) const;

  uint32_t placed_ = 0;
  int64_t next_id_ = 0;
  std::optional<int64_t> base_ns_;  // of the first trace
  std::set<int64_t> taken_;         // numbers of processes and GPUs
};

}  // namespace borescope::internal
