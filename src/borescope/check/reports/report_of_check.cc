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
  std::string text(row.verdict == Verdict::kCannotTell ? "" : VerdictName(row.verdict));
  if (compared.change.has_value()) {
    text += fmt::format("{}{:+.1f} %", text.empty() ? "" : ", ", 100 * *compared.change);
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

// A name in an identifier, as forms of the web have it: other names, other identifiers.
std::string IdOf(std::string_view name, std::string_view rule) {
  constexpr std::string_view kPlain = "-._";
  std::string id;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || kPlain.find(c) != std::string_view::npos;
    id += c == ' '   ? "+"
          : is_plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format("{}/{}", id, rule);
}

}  // namespace

CiReport ReportOfCheck(const JudgedCheck& outcome, const std::string& budget_path,
                       const std::string& input, bool strict) {
  CiReport report{outcome.status, outcome.why, budget_path, input, strict, {}};
  if (outcome.status == BudgetStatus::kVoid) {
    report.checks.push_back(
        {"quality of the recordings", "quality/recordings", outcome.status, outcome.why, "", 0});
  }
  for (const BudgetCheck& check : outcome.budgets) {
    report.checks.push_back({fmt::format("{} ({})", check.budget, check.rule),
                             IdOf(check.budget, check.rule), check.status, check.sentence,
                             check.evidence, check.line});
  }
  for (const GateRow& row : outcome.gate) {
    if (row.decides) {
      const std::string name =
          row.key.second.empty() ? row.key.first + " time" : row.key.first + " " + row.key.second;
      report.checks.push_back({name + " (baseline)", IdOf(name, "gate"), StatusOfGate(row.verdict),
                               GateSentence(row), "", 0});
    }
  }
  return report;
}

}  // namespace borescope::internal
