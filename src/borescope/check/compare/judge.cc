#include "borescope/check/compare/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/base/statistics/quantile.h"
#include "borescope/check/budget/amount.h"
#include "borescope/check/budget/budget_value.h"
#include "borescope/check/compare/gate.h"
#include "borescope/check/statistics/adjust.h"
#include "borescope/check/statistics/rank_sum.h"

namespace borescope::internal {
namespace {

MetricKey KeyOf(const Budget& budget) { return {std::string(kBudgetMetric), budget.name}; }

// A word of a POSIX shell that is taken as it is.
std::string QuotedWord(std::string_view word) {
  constexpr std::string_view kPlain = "_-./:=,@%+";
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (is_plain) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

// A comment of a shell, on one line whatever the text holds.
std::string CommentOf(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return "  # " + text;
}

// A command that runs as it is; what it cannot select is said after it.
std::string EvidenceOf(const Budget& budget, const RunValues& run) {
  std::string command = "borescope ";
  if (!budget.sql.empty()) {
    command += "query " + QuotedWord(budget.sql);
  } else {
    command += QuotedWord(budget.table);
    command += budget.by.empty() ? "" : " --by " + QuotedWord(budget.by);
  }
  for (const std::string& input :
       run.inputs.empty() ? std::vector<std::string>{run.name} : run.inputs) {
    command += " " + QuotedWord(input);
  }
  return budget.sql.empty() ? command + CommentOf(DefinitionOf(budget)) : command;
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
  std::string amounts =
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
  return fmt::format("{} v {} runs, and {:.4g} % of confidence needs {} v {}, or --history",
                     runs.base.size(), runs.test.size(), 100 * (1 - rules.alpha),
                     RunsNeeded(rules.alpha), RunsNeeded(rules.alpha));
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

bool IsOfBudget(const MetricValue& value, const MetricValue& wanted) {
  return value.unit == wanted.unit && value.definition == wanted.definition;
}

// Groups of runs with the values that are of the same budget, and no others.
std::vector<std::vector<RunValues>> OfBudget(const std::vector<std::vector<RunValues>>& groups,
                                             const MetricKey& key, const MetricValue& wanted) {
  std::vector<std::vector<RunValues>> kept;
  for (const std::vector<RunValues>& group : groups) {
    kept.emplace_back();
    for (const RunValues& run : group) {
      const auto found = run.metrics.find(key);
      if (found != run.metrics.end() && IsOfBudget(found->second, wanted)) {
        kept.back().emplace_back();
        kept.back().back().metrics[key] = found->second;
      }
    }
  }
  return kept;
}

// Why a budget cannot be compared with the baseline; empty where it can.
std::string WhyNoBase(const JudgedRuns& runs, const MetricKey& key) {
  const MetricValue& wanted = runs.test.front().metrics.at(key);
  bool has_value = false;
  for (const RunValues& run : runs.base) {
    if (const auto found = run.metrics.find(key); found != run.metrics.end()) {
      has_value = true;
      if (!IsOfBudget(found->second, wanted)) {
        return "the saved value is of another budget";
      }
    }
  }
  if (!has_value) {
    return runs.base.empty() ? "there is no --baseline"
                             : "the saved baseline has no value of it; save it with this budget "
                               "file";
  }
  const bool is_negative =
      std::min(LeastOf(ValuesOf(runs.base, key)), LeastOf(ValuesOf(runs.test, key))) < 0;
  return is_negative ? "a value is negative, and runs are compared by ratios; max and min take it"
                     : "";
}

// Nothing where it is decided already.
std::optional<PendingCheck> CompareBudget(const Budget& budget, const JudgedRuns& runs,
                                          std::vector<BudgetCheck>& checks) {
  const MetricKey key = KeyOf(budget);
  BudgetCheck check = CheckOf(budget, "baseline", runs);
  const ComparisonRules rules = RulesOf(budget, check.unit);
  std::optional<PendingCheck> pending;
  check.sentence = WhyNoBase(runs, key);
  if (!check.sentence.empty()) {
    check.status = BudgetStatus::kCannotTell;
    checks.push_back(std::move(check));
    return pending;
  }
  const std::vector<double> base = ValuesOf(runs.base, key);
  const RunSpread spread =
      SpreadOf(OfBudget(runs.history, key, runs.test.front().metrics.at(key)), key);
  const MetricComparison compared = CompareRuns(base, ValuesOf(runs.test, key), spread, rules);
  check.base = MedianOf(base);
  check.change = compared.change;
  if (IsExact(check.unit)) {
    CompareExactly(rules, check);
  } else {
    check.low = compared.low;
    check.high = compared.high;
    pending = PendingCheck{checks.size(), rules, compared};
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
    return fmt::format("{}: {} v {} runs are too few; 3 v 3 can tell, or --history", NameOfRow(row),
                       runs.base.size(), runs.test.size());
  }
  // That nobody can tell is the result already.
  const std::string verdict =
      row.verdict == Verdict::kCannotTell ? "" : fmt::format("{}, ", VerdictName(row.verdict));
  return fmt::format("{}: {}{:+.1f} % ({:+.1f} .. {:+.1f} %)", NameOfRow(row), verdict,
                     100 * compared.change.value_or(0), 100 * compared.low.value_or(0),
                     100 * compared.high.value_or(0));
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
