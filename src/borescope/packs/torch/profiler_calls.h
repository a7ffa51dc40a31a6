// The host events that PyTorch's profiler adds up in its tables, with their times by its rules.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/opmodel/values/op_args.h"
#include "borescope/trace/trace.h"

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

// FLOPs as PyTorch's profiler counts them where `with_flops=True` is given (computeFlops in
// torch/csrc/profiler/util.cpp): seven operators, by name, whatever they call.

// 0 for all other operators, and where the arguments were not recorded or are not those of the
// operator. Traces do not hold PyTorch's own number.
int64_t ProfilerFlops(std::string_view op, const CallArgs& args);

// Whether ProfilerFlops knows `op`.
bool HasProfilerFlops(std::string_view op);

// The allocations that PyTorch's profiler has no event for.

// Allocations and frees that no event of any thread is around: rows "[memory]" of the profiler's
// table. Begin and end of an event belong to it. O((host rows + n) log(host rows)).
int64_t CountMemoryOutsideOfEvents(const Trace& trace);

}  // namespace borescope::internal
