// What kind of program was recorded, as far as advice depends on it.
#pragma once

#include "borescope/trace/trace.h"

namespace borescope::internal {

// Whether PyTorch ran: its own profiler wrote the recording, operators were recorded, or a kernel
// is one of PyTorch's by its name. Operators, training steps and modules are no advice to others:
// HPC, benchmarks, inference engines. O(rows of the device).
bool IsOfPyTorchProgram(const Trace& trace);

// Whether the profiler records a process from its start to its end, as all but PyTorch's do: then
// the time before the first and after the last device work says nothing about the rest.
bool IsOfWholeProcess(const Trace& trace);

}  // namespace borescope::internal
