// Which kinds of events a trace holds at all.
#pragma once

#include <algorithm>
#include <string_view>

#include "borescope/trace/missing_data.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

inline bool HasHostKind(const Trace& trace, HostKind kind) {
  const auto& kinds = trace.host().kind;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Whether any kernel, copy or fill was recorded; of one track: device_time.h.
inline bool HasDeviceWork(const Trace& trace) {
  const auto& kinds = trace.device().kind;
  return std::any_of(kinds.begin(), kinds.end(), IsDeviceWork);
}

// What kind of program was recorded, as far as advice depends on it.

// Whether PyTorch ran: its own profiler wrote the recording, operators were recorded, or a kernel
// is one of PyTorch's by its name. Operators, training steps and modules are no advice to others:
// HPC, benchmarks, inference engines. O(rows of the device).
bool IsOfPyTorchProgram(const Trace& trace);

// Whether the profiler records a process from its start to its end, as all but PyTorch's do: then
// the time before the first and after the last device work says nothing about the rest.
bool IsOfWholeProcess(const Trace& trace);

// What to do so that the next recording has what this one lacks.

// A phrase without a full stop. Empty for kNone, and for recordings of PyTorch's profiler, whose
// advice is part of the checks, unless the recording itself shows the reason.
std::string_view RemedyFor(MissingData lack, const Trace& trace);

}  // namespace borescope::internal
