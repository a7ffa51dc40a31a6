#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/check/budget.h"
#include "borescope/check/compare_metric.h"

namespace borescope::internal {

// From the values of runs to verdicts: budgets kept or broken, metrics slower or not. Pure.

enum class BudgetStatus : uint8_t { kKept, kBroken, kCannotTell, kVoid };
std::string_view BudgetStatusName(BudgetStatus status);  // "cannot tell"

// One limit of one budget.
struct BudgetCheck {
  std::string budget;
  std::string rule;  // max, min or baseline
  BudgetStatus status = BudgetStatus::kKept;
  double value = 0;  // the median of the runs
  Unit unit = Unit::kNone;
  std::optional<double> limit;
  std::optional<double> base;
  std::optional<double> change;  // as a part of the base, with its interval
  std::optional<double> low;
  std::optional<double> high;
  int64_t samples = 0;
  std::string sentence;   // what it means, for people
  std::string evidence;   // the command that shows the number
  uint32_t line = 0;      // of the budget in its file
  bool is_tested = true;  // false: the comparison with the baseline had nothing that could tell
};

// One metric of the comparison with the baseline.
struct GateRow {
  MetricKey key;
  Unit unit = Unit::kNanoseconds;
  MetricComparison comparison;
  std::optional<double> q;  // worse_p among the metrics that were looked at
  Verdict verdict = Verdict::kCannotTell;
  bool rests_on_noise = false;  // on that the change is larger, and on no test
  bool decides = false;         // the status of the check follows it
  std::string sentence = {};    // what it means, for people
};

struct JudgeOptions {
  double fail = 0.03;  // a change that matters
  bool all = false;    // every metric decides, not the time of the step alone
};

// The runs that are judged, and what is known of others.
struct JudgedRuns {
  std::vector<RunValues> base;
  std::vector<RunValues> test;
  std::vector<std::vector<RunValues>> history;  // groups, each of one unchanged program
};

struct JudgedCheck {
  BudgetStatus status = BudgetStatus::kKept;
  std::string why;  // in a sentence
  // There is a baseline, and no comparison with it was tested: "kept" or "cannot tell" say nothing
  // about whether the program changed.
  bool is_untested = false;
  std::vector<BudgetCheck> budgets;
  std::vector<GateRow> gate;
};

// Of a row of the comparison: "step time", "class gemm".
std::string NameOf(const GateRow& row);

// REQUIRES: test is not empty, and has a value for each budget.
JudgedCheck Judge(const JudgedRuns& runs, const BudgetFile& file, const JudgeOptions& options);

// The rows of the comparison with a baseline. Pure.

// Of logarithms of a metric, what groups of runs say about how much runs differ; values of 0 are
// left out.
RunSpread SpreadOf(const std::vector<std::vector<RunValues>>& groups, const MetricKey& key);

// The values of a metric with what is known of their noise, by run.
std::vector<RunNoise> NoiseOf(const std::vector<RunValues>& runs, const MetricKey& key);

// The time of the step first, then parts of it, classes and kernels by size. Kernels that are less
// than 1 % of a step in every run are left out. Empty without a baseline.
std::vector<GateRow> GateRows(const JudgedRuns& runs, const JudgeOptions& options);

}  // namespace borescope::internal
