// An input of a run from the store of indexed traces, or loaded and kept there.
#pragma once

#include "borescope/base/result.h"
#include "borescope/engine/loading/loaded_trace.h"

namespace borescope::internal {

// The same trace and index as LoadAndIndex gives, whether they come from `input.store` or not;
// LoadedTrace::store says which. Whatever is wrong with the store is reported there, and the input
// is loaded: errors are those of LoadAndIndex alone.
Result<LoadedTrace> LoadStored(const InputFile& input, const LoadOptions& options);

}  // namespace borescope::internal
