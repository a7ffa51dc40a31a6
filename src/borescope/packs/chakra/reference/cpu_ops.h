// What the reference linker makes of the events of a device trace: operators of threads, launches
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

// Of every span of one thread what is left of its duration without the spans inside it. Inside is
// what is sorted after it by (begin, duration) and ends no later; overlapping or touching spans
// count once. Of spans with one begin the shorter comes first, so that the longer one does not see
// it. Less than nothing, which rounding can bring and at which the reference gives up, counts as
// zero (kNegativeDuration). O(n log n) where spans nest; where they cross, up to O(n) for each.
std::vector<Number> ExclusiveDurations(std::span<const TimedSpan> spans, Diagnostics& diagnostics);

// Operators and annotations of threads, but for steps of the profiler.
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

// Sorts and tells apart. Several launches of one correlation number, at which the reference gives
// up, are counted (kDuplicateCorrelation); the first one counts.
SortedOps SortOps(const DeviceTrace& trace);

// Sets `exclusive` of every operator.
void FindExclusive(SortedOps& ops);

// Sets `waits_for`: where a thread did nothing for more than a millisecond, the operators from
// there on wait for the one of another thread that began last before.
void FindThreadDeps(SortedOps& ops);

// Under which operator device work hangs, by the rules of the reference linker.

// Events of device work in time order, by the external id of the operator that launched them.
using GpuOfOp = HashMap<int64_t, std::vector<uint32_t>>;

// The launch is the runtime call of the same correlation, the operator the last one of its thread
// that began before it and has the external id of the work, else the last one at all. Work without
// either is in no list.
GpuOfOp GroupGpuOps(const DeviceTrace& trace, const SortedOps& ops);

}  // namespace borescope::internal::chakra::compat
