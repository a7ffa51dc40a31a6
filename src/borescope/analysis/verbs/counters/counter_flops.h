// Floating-point operations, time and memory traffic from hardware counters: the point of a kernel
// in a roofline.
//
//   FLOPs     tensor and vector FLOPs as measured.h defines them. Of a kernel that used matrix
//   units
//             on a type whose operations were not counted they are not known, and so are not those
//             of the row
//   traffic   dram__bytes.sum, else dram__bytes_read.sum + dram__bytes_write.sum
//   time      of counters from a report, which another run measured, the time in the trace; of
//             recorded ones gpu__time_duration.sum (ns), else the kernel's own event, else the
//             length of the range. Kernels are replayed inside a range, so that it is longer than
//             the kernel; ranges of equal length are a made-up share of the profiled time, and then
//             no time is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/flops/counters.h"
#include "borescope/analysis/measures/stacks/op_stacks.h"
#include "borescope/analysis/verbs/counters/counter_tables.h"

namespace borescope::internal {

// One row per kernel and innermost operator, most operations first.
Table CounterFlops(const RankView& view, const OpStacks& stacks,
                   const std::vector<CounterLineup>& lineups);

// The same of counters from reports. A kernel without counters is in no row.
Table CounterFlops(const CountersInput& in);

}  // namespace borescope::internal
