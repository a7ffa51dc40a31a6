// The events of a device trace as the reference linker sorts them: operators of threads, launches
// and device work, each in time order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/chakra/reference/link_compat.h"

namespace borescope::internal::chakra::compat {

// Exclusive durations by the rule of the reference linker, to the last bit of its doubles.

struct TimedSpan {
  Number begin;
  Number duration;
};

// For every span of one thread, its duration less the spans inside it. A span is inside another if
// it is sorted after it by (begin, duration) and ends no later; overlapping or touching spans count
// once. Of spans with the same begin the shorter comes first, so that the longer one does not
// contain it. Less than nothing, which rounding can cause and at which the reference gives up,
// counts as zero (kNegativeDuration). O(n log n) if spans nest; if they cross, up to O(n) for each.
std::vector<Number> ExclusiveDurations(std::span<const TimedSpan> spans, Diagnostics& diagnostics);

// Operators and annotations of threads, except steps of the profiler.
struct CpuOp {
  uint32_t event = 0;   // of DeviceTrace::events
  uint32_t thread = 0;  // DeviceEvent::thread
  Number begin;
  Number duration;
  Number exclusive;
  int64_t external_id = kNone;
  std::optional<int64_t> rf_id;
  std::optional<int64_t> waits_for;  // rf_id of an operator of another thread
};

struct SortedOps {
  std::vector<uint32_t> by_time;  // all events
  std::vector<CpuOp> cpu;
  std::vector<uint32_t> gpu;                     // events: kernels and copies
  HashMap<int64_t, uint32_t> launch_of;          // event, by correlation
  std::vector<std::vector<uint32_t>> by_thread;  // rows of `cpu`
  std::vector<uint32_t> thread_order;            // threads as their operators appear
  HashMap<int64_t, uint32_t> cpu_by_rf_id;       // the last in time
  Diagnostics diagnostics;
};

// Sorts the events and separates their kinds. If a correlation number has several launches, at
// which the reference gives up, they are counted (kDuplicateCorrelation), and the first one is
// used.
SortedOps SortOps(const DeviceTrace& trace);

// Sets `exclusive` of every operator.
void FindExclusive(SortedOps& ops);

// Sets `waits_for`: if a thread did nothing for more than a millisecond, its operators from then on
// wait for the operator of another thread that began last before.
void FindThreadDeps(SortedOps& ops);

// Finds the operator of device work, by the rules of the reference linker.

// Events of device work in time order, by the external id of the operator that launched them.
using GpuOfOp = HashMap<int64_t, std::vector<uint32_t>>;

// The launch is the runtime call with the same correlation. The operator is the last one of its
// thread that began before it and has the external id of the work, or else simply the last one.
// Work without a launch or operator is in no list.
GpuOfOp GroupGpuOps(const DeviceTrace& trace, const SortedOps& ops);

}  // namespace borescope::internal::chakra::compat
