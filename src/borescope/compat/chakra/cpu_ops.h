// What the reference linker makes of the events of a device trace: operators of threads, launches
// and device work, each in time order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/compat/chakra/device_events.h"

namespace borescope::internal::chakra::compat {

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

}  // namespace borescope::internal::chakra::compat
