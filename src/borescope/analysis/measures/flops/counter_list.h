// What to measure for `counters`, and with which command: the one place from which help, remedies,
// checks and documentation take it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// A metric of Nsight Compute that answers use, under the name that it has there.
struct WantedMetric {
  std::string_view name;
  std::string_view use;  // what follows from it, in a few words; the same for neighbours
};

// All of them, those of one use side by side. A kernel is replayed some ten times for all.
// Source of the names: Nsight Compute 2025.3 on an H100, and NVIDIA's "Kernel Profiling Guide".
std::span<const WantedMetric> WantedMetrics();

// The names with commas between them, as --metrics of ncu and --counters of `record` take them.
std::string WantedMetricsAsList();

// How counters are measured and brought to a trace: lines for help, of at most 80 characters.
std::string CounterInstructions();

// What to do where a trace of PyTorch's profiler holds no counters: a phrase without a full stop,
// by the vendor of its device and the version of CUDA that the profiler was built for.
std::string_view RemedyForCounters(const Trace& trace);

// The version of CUDA's runtime that a trace of Kineto names, as CUDA writes versions (12060 is
// 12.6); 0 where it names none.
int64_t CudaVersionOf(const Trace& trace);

}  // namespace borescope::internal
