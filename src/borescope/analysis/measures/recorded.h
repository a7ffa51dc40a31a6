// What a recording holds at all, what kind of program it is of, and what to do so that the next one
// holds more.
#pragma once

#include <algorithm>
#include <string_view>

#include "borescope/trace/tables.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

inline bool HasHostKind(const Trace& trace, HostKind kind) {
  const auto& kinds = trace.host().kind;
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Whether any kernel, memcpy or memset was recorded (for one track: device_time.h).
inline bool HasDeviceWork(const Trace& trace) {
  const auto& kinds = trace.device().kind;
  return std::any_of(kinds.begin(), kinds.end(), IsDeviceWork);
}

// Whether PyTorch ran: its own profiler wrote the recording, operators were recorded, or a kernel
// is one of PyTorch's by its name. Advice about operators, training steps and modules is of no use
// to other programs, such as HPC codes, benchmarks and inference engines. O(rows of the device).
bool IsOfPyTorchProgram(const Trace& trace);

// Whether the operators of a program, if it has any, are those of another framework (JAX, ONNX
// Runtime): advice about PyTorch is of no use to it.
bool IsOfOtherFramework(const Trace& trace);

// Whether PyTorch's profiler would have recorded operators, but none was called: frames or
// annotations of the host are there, which only its CPU activity records. Programs that replay
// graphs are such.
bool CalledNoOperators(const Trace& trace);

// Whether the profiler records a process from its start to its end, as all but PyTorch's do. Then
// the time before the first and after the last device work is start and end of the process, and
// says nothing about the time between.
bool IsOfWholeProcess(const Trace& trace);

// What to do so that the next recording has what this one lacks: a phrase without a full stop.
// Empty for kNone, and for recordings of PyTorch's profiler unless the recording itself shows the
// reason, as the checks give the advice for it.
std::string_view RemedyFor(MissingData lack, const Trace& trace);

}  // namespace borescope::internal
