#include <fmt/format.h>

#include "borescope/check/reports/ci_reports.h"

namespace borescope::internal {
namespace {

BudgetStatus StatusOfGate(Verdict verdict) {
  return verdict == Verdict::kWorse        ? BudgetStatus::kBroken
         : verdict == Verdict::kCannotTell ? BudgetStatus::kCannotTell
                                           : BudgetStatus::kKept;
}

std::string GateSentence(const GateRow& row) {
  const MetricComparison& compared = row.comparison;
  std::string text(VerdictName(row.verdict));
  if (compared.change.has_value()) {
    text += fmt::format(", {:+.1f} %", 100 * *compared.change);
  }
  if (compared.low.has_value()) {
    text += fmt::format(" ({:+.1f} .. {:+.1f} %{})", 100 * *compared.low, 100 * *compared.high,
                        compared.is_within_runs ? " within the runs only" : "");
  }
  if (compared.detectable.has_value()) {
    text += fmt::format("; detectable: {:.1f} %", 100 * *compared.detectable);
  }
  return text;
}

}  // namespace

CiReport ReportOfCheck(const JudgedCheck& outcome, const std::string& budget_path, bool strict) {
  CiReport report{outcome.status, outcome.why, budget_path, strict, {}};
  if (outcome.status == BudgetStatus::kVoid) {
    report.checks.push_back({"quality of the recordings", outcome.status, outcome.why, "", 0});
  }
  for (const BudgetCheck& check : outcome.budgets) {
    report.checks.push_back({fmt::format("{} ({})", check.budget, check.rule), check.status,
                             check.sentence, check.evidence, check.line});
  }
  for (const GateRow& row : outcome.gate) {
    if (row.decides) {
      const std::string name =
          row.key.second.empty() ? row.key.first + " time" : row.key.first + " " + row.key.second;
      report.checks.push_back(
          {name + " (baseline)", StatusOfGate(row.verdict), GateSentence(row), "", 0});
    }
  }
  return report;
}

}  // namespace borescope::internal
