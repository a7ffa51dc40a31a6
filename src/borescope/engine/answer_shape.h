// What an answer looks like before there is an input.
#pragma once

#include <cstdint>
#include <string>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// The tables of a verb without their rows, as for a job of many ranks that recorded something of
// each kind. Columns that are named by what was recorded are missing. kInvalidArgument
// for options that the verb does not have. Thread-safe.
Result<Tables> AnswerShape(const AnalysisSpec& verb, const Params& given);

// A recording of one rank with an event of each kind: so that answers have every table and column
// that they can have.

// As a trace of PyTorch's profiler. Those of two ranks are of one job.
std::string SpecimenText(int64_t rank);

}  // namespace borescope::internal
