// The numbers that budgets are about, of one run.
#pragma once

#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/check/budget.h"
#include "borescope/check/compare_metric.h"
#include "borescope/verbs/check/parts_of_runs.h"

namespace borescope::internal {

// The verb that each budget asks; nullptr for one with a statement. kInvalidArgument for a table
// that no verb has, with the line of the budget.
Result<std::vector<const AnalysisSpec*>> VerbsOfBudgets(const BudgetFile& file);

// What budgets of tables ask, each question once.
CheckQuestion QuestionOfBudget(const Budget& budget, const AnalysisSpec& verb);

// `error`, with the place of the budget in its file, and its name.
Error AboutBudget(const BudgetFile& file, const Budget& budget, const Error& error);

// Adds a value to `run` for each budget. Errors as those of RunQuestions and of QuerySession, with
// the name of the budget.
Result<void> MeasureBudgets(const BudgetFile& file, std::span<const AnalysisSpec* const> verbs,
                            RunQuestions& asked, RunValues& run);

}  // namespace borescope::internal
