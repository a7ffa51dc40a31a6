// The host events that PyTorch's profiler adds up in its tables, with their times by its rules.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

enum class ProfilerEvents : uint8_t {
  kOperators,  // operators and annotations, each as recorded
  // What the table of a live profiler holds: runtime calls lie inside operators, too, a few
  // operators of the profiler itself are hidden, and a call of which the only call inside has the
  // same name is one with it.
  kAll,
};

// Whether the profiler's tree of one recording has this host row. Frames of Python are part of the
// tree, so that they reduce the self time of what they are in, but not of the tables.
bool IsInProfilerTree(const Trace& trace, HostId id, ProfilerEvents events);

// One entry per event, in the order of the host rows.
struct ProfilerCalls {
  std::vector<HostId> id;
  std::vector<int64_t> self_cpu_ns;  // duration less that of the events directly inside
  std::vector<int64_t> self_device_ns;
  std::vector<int64_t> total_device_ns;  // self and that of all events inside

  size_t size() const { return id.size(); }
};

// O(host rows + device rows). An event lies inside another of its thread if it neither starts at or
// after the end of that nor ends after it; where it ends later, it counts beside it, whole.
ProfilerCalls BuildProfilerCalls(const RankView& view, ProfilerEvents events);

}  // namespace borescope::internal
