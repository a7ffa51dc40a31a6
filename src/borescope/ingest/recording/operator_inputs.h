// The inputs of a recorded operator.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/ingest/recording/recording_trace.h"

namespace borescope::internal {

// `json` is an object whose members have the names that PyTorch's profiler writes: "Input Dims",
// "Input type", "Input Strides", "Concrete Inputs". Fills the row of Ops; other members are passed
// over. Nothing happens for an empty text; one that is no object is counted.
void AddOperatorInputs(RecordingTrace& trace, std::string_view json, uint32_t row);

}  // namespace borescope::internal
