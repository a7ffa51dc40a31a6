// The host events that PyTorch's profiler adds up in its tables, with their times by its rules; its
// FLOPs, and its allocations outside of all events.
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
  // What the table of a live profiler contains: runtime calls are inside operators, too, a few
  // operators of the profiler itself are hidden, and a call whose only inner call has the same name
  // is merged with it.
  kAll,
};

// Whether the profiler's tree of one recording has this host row. Frames of Python are part of the
// tree, so that they reduce the self time of the event around them, but not part of the tables.
bool IsInProfilerTree(const Trace& trace, HostId id, ProfilerEvents events);

// One entry per event, in the order of the host rows.
struct ProfilerCalls {
  std::vector<HostId> id;
  std::vector<int64_t> self_cpu_ns;  // duration less that of the events directly inside it
  std::vector<int64_t> self_device_ns;
  std::vector<int64_t> total_device_ns;  // its own and that of all events inside it

  size_t size() const { return id.size(); }
};

// Takes O(host rows + device rows). An event is inside another one of its thread if it starts
// before the end of that one and does not end after it; if it ends later, both count in full, side
// by side.
ProfilerCalls BuildProfilerCalls(const RankView& view, ProfilerEvents events);

// FLOPs as PyTorch's profiler counts them with `with_flops=True` (computeFlops in
// torch/csrc/profiler/util.cpp): seven operators, by name, whatever they call.

// 0 for all other operators, and if the arguments were not recorded or are not those of the
// operator. Traces do not contain PyTorch's own number.
int64_t ProfilerFlops(std::string_view op, const CallArgs& args);

// Whether ProfilerFlops knows `op`.
bool HasProfilerFlops(std::string_view op);

// Allocations for which PyTorch's profiler has no event.

// The number of allocations and frees outside of all events of all threads: rows "[memory]" of the
// profiler's table. The begin and end of an event belong to it. Takes O((host rows + n) log(host
// rows)).
int64_t CountMemoryOutsideOfEvents(const Trace& trace);

}  // namespace borescope::internal
