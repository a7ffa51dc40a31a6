// The numbers that budgets are about, of one run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/check/budget/budget.h"
#include "borescope/check/compare/run_values.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

// The verb that each budget asks; nullptr for one with a statement. kInvalidArgument for a table
// that no verb has, with the line of the budget.
Result<std::vector<const AnalysisSpec*>> VerbsOfBudgets(const BudgetFile& file);

// Adds a value to `run` for each budget. `options` are those of the run. Errors as those of
// RunAnalyses and of QuerySession, with the name of the budget.
Result<void> MeasureBudgets(const BudgetFile& file, std::span<const AnalysisSpec* const> verbs,
                            const RunOptions& options, RunValues& run);

}  // namespace borescope::internal
