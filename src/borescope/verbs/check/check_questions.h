// All questions of a check about a run: what every comparison needs, and what the budgets of a file
// are about. Pure.
#pragma once

#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/check/budget.h"

namespace borescope::internal {

// The first is `info` of the whole recordings; each key of `by` has one. `verbs` are those of
// VerbsOfBudgets. The order of the budgets changes nothing.
std::vector<CheckQuestion> QuestionsOfCheck(const BudgetFile& file,
                                            std::span<const AnalysisSpec* const> verbs);

}  // namespace borescope::internal
