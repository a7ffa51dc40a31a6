// What to do so that the next recording has what this one lacks, in the words of the profiler that
// wrote it. PyTorch's own advice stands with the checks.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/trace/formats.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

enum class MissingData : uint8_t {
  kNone,  // nothing that an option would record
  kHost,  // calls on the host
  kDeviceWork,
  kLaunches,  // calls that device work is tied to
  kOperators,
  kSteps,
  kShapes,
  kMemory,
  kAnnotations,
  kCollectives,
  kGraphs,
  kCopies,
  kCounters,
};

// A phrase without a full stop; empty where `format` is PyTorch's, or `lack` kNone.
std::string_view RemedyElsewhere(MissingData lack, TraceFormat format);

// The same, of a recording that lacks it: also under PyTorch's profiler where the recording itself
// tells why.
std::string_view RemedyFor(MissingData lack, const Trace& trace);

}  // namespace borescope::internal
