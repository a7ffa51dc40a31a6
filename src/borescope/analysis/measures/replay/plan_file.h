// The file of --plan: changes by the names of the options of whatif.
//
//   {"changes": [{"scale": "class:gemm=0.5"}, {"no-data-wait": true}]}
//   {"scenarios": [{"name": "faster", "changes": [...]}, ...]}
#pragma once

#include <string_view>
#include <vector>

#include "borescope/analysis/measures/replay/changes.h"

namespace borescope::internal {

// kInvalidArgument says what is wrong where. Scenarios without a name are named by their changes.
Result<std::vector<Scenario>> ReadPlan(std::string_view json);

// "gemm x 0.5, launch calls x 0": the changes of a scenario.
std::string DescribeAll(const std::vector<Change>& changes);

}  // namespace borescope::internal
