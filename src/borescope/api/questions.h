// Questions by name, as a program asks them. Internal to api/.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "borescope/engine/run_analyses.h"
#include "borescope/error.h"
#include "borescope/params.h"

namespace borescope {

// The analyses of these names. kInvalidArgument for none and for one that is unknown.
Result<std::vector<const internal::AnalysisSpec*>> FindVerbs(
    std::span<const std::string_view> names);

// Sets what the parameters of these verbs say.
Result<void> ReadParams(std::span<const std::string_view> verbs, const Params& params,
                        internal::RunOptions& options);

// The same of the report, whose parameters mean what they mean for an analysis that takes a
// selection; and which has `timeline`.
Result<void> ReadReportParams(const Params& params, internal::RunOptions& options);

}  // namespace borescope
