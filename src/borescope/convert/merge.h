// Several traces in one file: numbers that nobody else has, one clock, a name for each.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "borescope/base/result.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The numbers of a node, as rocmProfileData has them in files of several nodes: a process is
// node * kPidStride + its own number, a GPU node * kGpuStride + its own.
inline constexpr int64_t kPidStride = 10'000'000;
inline constexpr int64_t kGpuStride = 1000;

// One trace of an output. By default the only one.
struct MergeSource {
  uint32_t number = 0;  // 0 is the first
  std::string name;     // "rank 3", or the name of its file; empty: the only one
  int64_t node = 0;
  // Its ids of calls, operators and flows lie from here up to end_id, both multiples of 2^32.
  int64_t first_id = 0;
  int64_t end_id = 0;
  int64_t shift_ns = 0;          // was added to its times
  bool has_common_clock = true;  // with the first one
};

// Moves traces, one after the other, to where they stand in a common file:
//
//   numbers  A trace keeps the numbers of its processes and GPUs if none before it has one of them,
//            else all of them go to the next node where they are free. Streams, and threads within
//            their process, keep theirs; threads move along with their process.
//   ids      of calls, operators and flows get the number of the trace in their upper bits, so that
//            nothing of one trace is tied to anything of another.
//   clock    where the first trace and this one say when they were recorded, or their times are of
//            Unix already, times move to the clock of the first. Else they stay, and
//            has_common_clock is false.
class Merger {
 public:
  // Each trace once, before it is indexed. Ids too large to be moved are dropped and counted. An
  // error where its ids find no room behind those before.
  // `shift_ns`: what brings its times to the clock of the first, if that is known better.
  Result<MergeSource> Place(TraceData& data, std::optional<int64_t> shift_ns = std::nullopt);
  // What brings the times of a trace to the clock of the first by what both recorded of it; nothing
  // where that cannot be known. REQUIRES: the first one is placed.
  std::optional<int64_t> RecordedShift(const TraceData& data) const { return ShiftTo(data); }

 private:
  int64_t FreeNode(const TraceData& data) const;
  // What to add to the times; nothing where that cannot be known.
  std::optional<int64_t> ShiftTo(const TraceData& data) const;

  uint32_t placed_ = 0;
  int64_t next_id_ = 0;
  std::optional<int64_t> base_ns_;  // of the first
  std::set<int64_t> taken_;         // numbers of processes and GPUs
};

}  // namespace borescope::internal
