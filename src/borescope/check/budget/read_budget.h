// Reads budget.toml. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/check/budget/budget.h"

namespace borescope::internal {

// Whatever the text is, the result is a file of budgets or an error of kInvalidArgument that names
// line and cause. Keys that are not known are errors, since a budget that is misspelt would hold
// nothing. Messages begin with `path`.
Result<BudgetFile> ReadBudgetFile(std::string_view text, const std::string& path);

}  // namespace borescope::internal
