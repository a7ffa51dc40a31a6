// The files that options of analyses name: read here, before anything asks for what stands in them,
// so that analyses stay pure.
#pragma once

#include <span>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Sets ParamValue::content of every value given for an option of these analyses that is a file.
// kIo for a file that cannot be read, kInvalidArgument for one above 1 MiB; both name option and
// file.
Result<void> ReadParamFiles(std::span<const AnalysisSpec* const> specs, Params& params);

}  // namespace borescope::internal
