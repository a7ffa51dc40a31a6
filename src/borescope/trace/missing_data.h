// What a recording may lack, and what to do so that the next one has it, as the reader of its
// format says.
#pragma once

#include <cstdint>
#include <string_view>

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
  kCount
};

// In the words of the profiler that wrote the file: a phrase without a full stop. Empty for kNone.
using Remedy = std::string_view (*)(MissingData lack);

}  // namespace borescope::internal
