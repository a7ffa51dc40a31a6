#include "borescope/verbs/check/check_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

namespace borescope::internal {
namespace {

constexpr std::string_view kBudgetAndRule[] = {"budget", "rule"};
constexpr std::string_view kMetricAndName[] = {"metric", "name"};
constexpr std::string_view kValue[] = {"value"};
constexpr std::string_view kShift[] = {"shift", "low", "high"};
constexpr std::string_view kChange[] = {"change", "low", "high"};
constexpr ViewSpec kLimits{"checks",
                           ViewKind::kIntervals,
                           "Budgets: values, as parts of their limits",
                           kBudgetAndRule,
                           kValue,
                           "limit"};
constexpr ViewSpec kBudgetChanges{"checks", ViewKind::kIntervals,
                                  "Budgets: changes from the baseline", kBudgetAndRule, kShift};
constexpr ViewSpec kChanges{"gate",
                            ViewKind::kIntervals,
                            "Changes from the baseline, and the smallest detectable ones",
                            kMetricAndName,
                            kChange,
                            "detectable"};

// Its tables have the whole path; a title is about what, not where.
std::string ShortName(const std::string& run) {
  std::string name = std::filesystem::path(run).lexically_normal().filename().string();
  if (name.empty()) {  // it ended in a slash
    name = std::filesystem::path(run).lexically_normal().parent_path().filename().string();
  }
  return name.empty() ? run : name;
}

}  // namespace

std::vector<ViewSpec> CheckViews(const JudgedCheck& outcome) {
  const std::vector<BudgetCheck>& budgets = outcome.budgets;
  const auto any_budget = [&](const auto& has) {
    return std::any_of(budgets.begin(), budgets.end(), has);
  };
  std::vector<ViewSpec> views;
  if (any_budget([](const BudgetCheck& check) { return check.limit.value_or(0) != 0; })) {
    views.push_back(kLimits);
  }
  if (any_budget([](const BudgetCheck& check) { return check.change.has_value(); })) {
    views.push_back(kBudgetChanges);
  }
  if (std::any_of(outcome.gate.begin(), outcome.gate.end(),
                  [](const GateRow& row) { return row.comparison.change.has_value(); })) {
    views.push_back(kChanges);
  }
  return views;
}

ReportPage PageOfCheck(const std::vector<std::string>& runs, const JudgedCheck& outcome,
                       const Document& document) {
  ReportPage page;
  page.title = runs.size() == 1 ? fmt::format("Check of {}", ShortName(runs.front()))
                                : fmt::format("Check of {} and {} more", ShortName(runs.front()),
                                              runs.size() - 1);
  page.document = document;
  for (const Table& table : document.tables) {
    page.all_rows.push_back(table.rows());
    page.comparisons.push_back(Comparison::kNone);
  }
  page.sections.push_back(
      {.name = "check",
       .summary = fmt::format("{}: {}", BudgetStatusName(outcome.status), outcome.why),
       .table_count = document.tables.size(),
       .lack = "",
       .views = document.views,
       .pane = "check"});
  page.panes = {{"check", "Check"}, {"quality", "Data quality"}};
  return page;
}

}  // namespace borescope::internal
