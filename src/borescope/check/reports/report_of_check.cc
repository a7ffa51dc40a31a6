#include <fmt/format.h>

#include <algorithm>

#include "borescope/check/reports/ci_reports.h"

namespace borescope::internal {
namespace {

BudgetStatus StatusOfGate(Verdict verdict) {
  return verdict == Verdict::kWorse        ? BudgetStatus::kBroken
         : verdict == Verdict::kCannotTell ? BudgetStatus::kCannotTell
                                           : BudgetStatus::kKept;
}

std::string GateSentence(const GateRow& row) {
  return row.comparison.detectable.has_value()
             ? fmt::format("{}; detectable: {:.1f} %", row.sentence,
                           100 * *row.comparison.detectable)
             : row.sentence;
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
  CiReport report{outcome.status, outcome.why, budget_path, input, strict, outcome.is_untested, {}};
  if (outcome.status == BudgetStatus::kVoid) {
    report.checks.push_back(
        {"quality of the recordings", "quality/recordings", outcome.status, outcome.why, "", 0});
  }
  const auto is_of_baseline = [](const auto& one) { return one.decides; };
  if (outcome.is_untested && outcome.status != BudgetStatus::kVoid &&
      std::none_of(outcome.gate.begin(), outcome.gate.end(), is_of_baseline)) {
    report.checks.push_back({"comparison with the baseline", "baseline/tested",
                             BudgetStatus::kCannotTell,
                             "nothing was tested: no limit compares with the baseline, or none "
                             "could be compared",
                             "", 0});
  }
  for (const BudgetCheck& check : outcome.budgets) {
    report.checks.push_back({fmt::format("{} ({})", check.budget, check.rule),
                             IdOf(check.budget, check.rule), check.status, check.sentence,
                             check.evidence, check.line});
  }
  for (const GateRow& row : outcome.gate) {
    if (row.decides) {
      const std::string name = NameOf(row);
      report.checks.push_back({name + " (baseline)", IdOf(name, "gate"), StatusOfGate(row.verdict),
                               GateSentence(row), "", 0});
    }
  }
  return report;
}

}  // namespace borescope::internal
