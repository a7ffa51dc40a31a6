// Judges the values of runs: which budgets are kept or broken, and which metrics are slower. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/check/budget.h"
#include "borescope/check/compare_metric.h"

namespace borescope::internal {

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
  std::optional<double> change;  // relative to the base, with its interval
  std::optional<double> low;
  std::optional<double> high;
  int64_t samples = 0;
  std::string sentence;   // the meaning, for people
  std::string evidence;   // the command that shows the number
  uint32_t line = 0;      // line of the budget in its file
  bool is_tested = true;  // false: no test was possible in the comparison with the baseline
};

// One metric of the comparison with the baseline.
struct GateRow {
  MetricKey key;
  Unit unit = Unit::kNanoseconds;
  MetricComparison comparison;
  std::optional<double> q;  // worse_p corrected for the number of compared metrics
  Verdict verdict = Verdict::kCannotTell;
  bool rests_on_noise =
      false;             // the verdict comes from a change larger than the noise, not from a test
  bool decides = false;  // whether it decides the status of the check
  std::string sentence = {};  // the meaning, for people
};

struct JudgeOptions {
  double fail = 0.03;  // the smallest change that matters
  bool all = false;    // every metric decides, not only the time of the step
};

// The judged runs, and what is known from other runs.
struct JudgedRuns {
  std::vector<RunValues> base;
  std::vector<RunValues> test;
  std::vector<std::vector<RunValues>> history;  // groups of runs, each of one unchanged program
};

struct JudgedCheck {
  BudgetStatus status = BudgetStatus::kKept;
  std::string why;  // as a sentence
  // There is a baseline, but no comparison with it was tested: then "kept" or "cannot tell" do not
  // say whether the program changed.
  bool is_untested = false;
  std::vector<BudgetCheck> budgets;
  std::vector<GateRow> gate;
};

// The name of a row of the comparison: "step time", "class gemm".
std::string NameOf(const GateRow& row);

// REQUIRES: test is not empty, and has a value for each budget.
JudgedCheck Judge(const JudgedRuns& runs, const BudgetFile& file, const JudgeOptions& options);

// How much the logarithms of a metric differ between runs of a group; values of 0 are left out.
RunSpread SpreadOf(const std::vector<std::vector<RunValues>>& groups, const MetricKey& key);

// By run: the value of a metric, and what is known about its noise.
std::vector<RunNoise> NoiseOf(const std::vector<RunValues>& runs, const MetricKey& key);

// The rows of the comparison with a baseline: the time of the step first, then its parts, classes
// and kernels by size. Kernels below 1 % of a step in every run are left out. Empty without a
// baseline.
std::vector<GateRow> GateRows(const JudgedRuns& runs, const JudgeOptions& options);

}  // namespace borescope::internal
