#include "borescope/check/compare/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/check/budget/amount.h"
#include "borescope/check/budget/budget_value.h"
#include "borescope/check/compare/gate.h"
#include "borescope/check/statistics/adjust.h"
#include "borescope/check/statistics/hodges_lehmann.h"
#include "borescope/check/statistics/rank_sum.h"

namespace borescope::internal {
namespace {

MetricKey KeyOf(const Budget& budget) { return {std::string(kBudgetMetric), budget.name}; }

std::string EvidenceOf(const Budget& budget, const RunValues& run) {
  if (!budget.sql.empty()) {
    return fmt::format("borescope query \"{}\" {}", budget.sql, run.name);
  }
  return fmt::format("borescope {}{}{} {}", budget.table, budget.by.empty() ? "" : " --by ",
                     budget.by, run.name);
}

// The value of a budget, of the median run.
BudgetCheck CheckOf(const Budget& budget, std::string_view rule, const JudgedRuns& runs) {
  const MetricValue& first = runs.test.front().metrics.at(KeyOf(budget));
  BudgetCheck check;
  check.budget = budget.name;
  check.rule = rule;
  check.unit = first.unit;
  check.value = MedianOf(ValuesOf(runs.test, KeyOf(budget)));
  check.samples = first.samples;
  check.evidence = EvidenceOf(budget, runs.test.front());
  check.line = budget.line;
  return check;
}

BudgetCheck CheckLimit(const Budget& budget, bool is_max, const JudgedRuns& runs) {
  BudgetCheck check = CheckOf(budget, is_max ? "max" : "min", runs);
  check.limit = (is_max ? budget.max : budget.min)->value;
  const bool is_kept = is_max ? check.value <= *check.limit : check.value >= *check.limit;
  check.status = is_kept ? BudgetStatus::kKept : BudgetStatus::kBroken;
  check.sentence = fmt::format("{} is {} {}", AmountText(check.value, check.unit),
                               is_kept  ? "within"
                               : is_max ? "above"
                                        : "below",
                               AmountText(*check.limit, check.unit));
  return check;
}

// Counts and bytes of runs of one program are the same, or the program is not.
bool IsExact(Unit unit) { return unit == Unit::kCount || unit == Unit::kBytes; }

ComparisonRules RulesOf(const Budget& budget, Unit unit) {
  ComparisonRules rules;
  rules.alpha = 1 - budget.worse->confidence;
  rules.least = budget.worse->by;
  rules.less_is_worse = budget.worse->less_is_worse;
  rules.least_amount = budget.worse->min_effect.has_value() ? budget.worse->min_effect->value
                       : unit == Unit::kNanoseconds         ? rules.least_amount
                                                            : 0;
  return rules;
}

void CompareExactly(const ComparisonRules& rules, BudgetCheck& check) {
  const double worse_by = (rules.less_is_worse ? -1 : 1) * (check.value - *check.base);
  const bool is_worse =
      worse_by > rules.least * *check.base && worse_by > 0 && worse_by >= rules.least_amount;
  check.status = is_worse ? BudgetStatus::kBroken : BudgetStatus::kKept;
  check.sentence = fmt::format("{} after {} of the baseline", AmountText(check.value, check.unit),
                               AmountText(*check.base, check.unit));
}

std::string ChangeText(const BudgetCheck& check) {
  const std::string amounts =
      fmt::format("{} after {} of the baseline", AmountText(check.value, check.unit),
                  AmountText(*check.base, check.unit));
  if (!check.change.has_value()) {
    return amounts;
  }
  std::string text = fmt::format("{}, {:+.1f} %", amounts, 100 * *check.change);
  if (check.low.has_value()) {
    text += fmt::format(", {:+.1f} .. {:+.1f} %", 100 * *check.low, 100 * *check.high);
  }
  return text;
}

std::string WhyNothing(const ComparisonRules& rules, const JudgedRuns& runs) {
  return fmt::format(
      "cannot tell: {} v {} runs, and {:.4g} % of confidence needs {} v {}, or --history",
      runs.base.size(), runs.test.size(), 100 * (1 - rules.alpha), RunsNeeded(rules.alpha),
      RunsNeeded(rules.alpha));
}

double LeastOf(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// A comparison that is still to be judged together with the others.
struct PendingCheck {
  size_t check = 0;  // its number among the checks
  ComparisonRules rules;
  MetricComparison comparison;
};

void SetStatus(const PendingCheck& pending, double worse_p, const JudgedRuns& runs,
               BudgetCheck& check) {
  const Verdict verdict = VerdictOf(pending.comparison, pending.rules, worse_p,
                                    pending.comparison.better_p.value_or(1));
  check.status = verdict == Verdict::kWorse        ? BudgetStatus::kBroken
                 : verdict == Verdict::kCannotTell ? BudgetStatus::kCannotTell
                                                   : BudgetStatus::kKept;
  check.sentence = pending.comparison.by == ChangeTest::kNone ? WhyNothing(pending.rules, runs)
                                                              : ChangeText(check);
}

// Nothing where it is decided already.
std::optional<PendingCheck> CompareBudget(const Budget& budget, const JudgedRuns& runs,
                                          std::vector<BudgetCheck>& checks) {
  BudgetCheck check = CheckOf(budget, "baseline", runs);
  const std::vector<double> base = ValuesOf(runs.base, KeyOf(budget));
  const ComparisonRules rules = RulesOf(budget, check.unit);
  std::optional<PendingCheck> pending;
  if (base.empty()) {
    check.status = BudgetStatus::kCannotTell;
    check.sentence = runs.base.empty()
                         ? "cannot tell: there is no --baseline"
                         : "cannot tell: the saved baseline has no value of it; save it with this "
                           "budget file";
  } else if (std::min(LeastOf(base), LeastOf(ValuesOf(runs.test, KeyOf(budget)))) < 0) {
    check.status = BudgetStatus::kCannotTell;
    check.sentence = "a value is negative, and runs are compared by ratios; max and min take it";
  } else {
    check.base = MedianOf(base);
    const MetricComparison compared = CompareRuns(base, ValuesOf(runs.test, KeyOf(budget)),
                                                  SpreadOf(runs.history, KeyOf(budget)), rules);
    check.change = compared.change;
    if (IsExact(check.unit)) {
      CompareExactly(rules, check);
    } else {
      check.low = compared.low;
      check.high = compared.high;
      pending = PendingCheck{checks.size(), rules, compared};
    }
  }
  checks.push_back(std::move(check));
  return pending;
}

// Several comparisons are one question to who reads the exit status: Holm.
void DecideTogether(const std::vector<PendingCheck>& pending, const JudgedRuns& runs,
                    std::vector<BudgetCheck>& checks) {
  std::vector<double> p;
  p.reserve(pending.size());
  for (const PendingCheck& one : pending) {
    p.push_back(one.comparison.worse_p.value_or(1));
  }
  p = HolmAdjusted(p);
  for (size_t i = 0; i < pending.size(); ++i) {
    SetStatus(pending[i], p[i], runs, checks[pending[i].check]);
  }
}

std::vector<BudgetCheck> CheckBudgets(const BudgetFile& file, const JudgedRuns& runs) {
  std::vector<BudgetCheck> checks;
  std::vector<PendingCheck> pending;
  for (const Budget& budget : file.budgets) {
    for (const bool is_max : {true, false}) {
      if ((is_max ? budget.max : budget.min).has_value()) {
        checks.push_back(CheckLimit(budget, is_max, runs));
      }
    }
    if (budget.worse.has_value()) {
      if (std::optional<PendingCheck> one = CompareBudget(budget, runs, checks)) {
        pending.push_back(*one);
      }
    }
  }
  DecideTogether(pending, runs, checks);
  return checks;
}

bool HasComparison(const BudgetFile& file) {
  return std::any_of(file.budgets.begin(), file.budgets.end(),
                     [](const Budget& budget) { return budget.worse.has_value(); });
}

BudgetStatus StatusOfRow(const GateRow& row) {
  return row.verdict == Verdict::kWorse        ? BudgetStatus::kBroken
         : row.verdict == Verdict::kCannotTell ? BudgetStatus::kCannotTell
                                               : BudgetStatus::kKept;
}

std::string NameOfRow(const GateRow& row) {
  return row.key.second.empty() ? row.key.first + " time"
                                : fmt::format("{} {}", row.key.first, row.key.second);
}

std::string SentenceOf(const GateRow& row, const JudgedRuns& runs) {
  const MetricComparison& compared = row.comparison;
  if (compared.by == ChangeTest::kNone) {
    return fmt::format("{}: {} v {} runs cannot tell; 3 v 3 can, or --history", NameOfRow(row),
                       runs.base.size(), runs.test.size());
  }
  return fmt::format("{}: {}, {:+.1f} % ({:+.1f} .. {:+.1f} %)", NameOfRow(row),
                     VerdictName(row.verdict), 100 * compared.change.value_or(0),
                     100 * compared.low.value_or(0), 100 * compared.high.value_or(0));
}

// The worst status, and the first that has it.
void Conclude(const JudgedRuns& runs, JudgedCheck& outcome) {
  for (const BudgetStatus status : {BudgetStatus::kBroken, BudgetStatus::kCannotTell}) {
    for (const BudgetCheck& check : outcome.budgets) {
      if (check.status == status) {
        outcome.status = status;
        outcome.why = fmt::format("{}: {}", check.budget, check.sentence);
        return;
      }
    }
    for (const GateRow& row : outcome.gate) {
      if (row.decides && StatusOfRow(row) == status) {
        outcome.status = status;
        outcome.why = SentenceOf(row, runs);
        return;
      }
    }
  }
  const auto step = std::find_if(outcome.gate.begin(), outcome.gate.end(),
                                 [](const GateRow& row) { return row.decides; });
  outcome.why = step != outcome.gate.end() ? SentenceOf(*step, runs)
                : outcome.budgets.empty()  ? "nothing was asked: no budget, no baseline"
                                           : "every budget is kept";
}

}  // namespace

std::string_view BudgetStatusName(BudgetStatus status) {
  constexpr std::string_view kNames[] = {"kept", "broken", "cannot tell", "void"};
  return kNames[static_cast<size_t>(status)];
}

JudgedCheck Judge(const JudgedRuns& runs, const BudgetFile& file, const JudgeOptions& options) {
  JudgedCheck outcome;
  outcome.budgets = CheckBudgets(file, runs);
  outcome.gate = GateRows(runs, options);
  // Budgets about the baseline say themselves what matters, and by how much.
  const bool steps_decide = !HasComparison(file);
  for (GateRow& row : outcome.gate) {
    row.decides = options.all || (steps_decide && row.key.first == kStepMetric);
    // That a kernel is new is no fault; its time is in that of the step.
    row.decides = row.decides && row.verdict != Verdict::kNew && row.verdict != Verdict::kGone;
  }
  Conclude(runs, outcome);
  return outcome;
}

}  // namespace borescope::internal
