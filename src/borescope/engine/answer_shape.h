// What an answer looks like before there is an input.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// The tables of a verb without their rows, as for a job of many ranks that recorded something of
// each kind. Columns that are named by what was recorded are missing. kInvalidArgument
// for options that the verb does not have. Thread-safe.
Result<Tables> AnswerShape(const AnalysisSpec& verb, const Params& given);

}  // namespace borescope::internal
