// Which scenarios are asked for. Internal to whatif/.
#pragma once

#include <vector>

#include "borescope/analysis/core/params.h"
#include "borescope/analysis/measures/replay/changes.h"

namespace borescope::internal {

// Those of the options, each change alone and, of several, all together; then those of --plan.
// Empty: nothing was asked about. kInvalidArgument names the option.
Result<std::vector<Scenario>> AskedScenarios(const Params& params);

// The factors of --sweep; empty without it. kInvalidArgument for a bad list.
Result<std::vector<double>> SweepFactors(const Params& params);
// With --sweep: the change of --scale that is swept, at every factor.
Result<std::vector<Scenario>> SweepScenarios(const Params& params);

}  // namespace borescope::internal
