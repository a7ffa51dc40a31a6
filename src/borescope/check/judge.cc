#include "borescope/check/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "borescope/base/statistics/statistics.h"
#include "borescope/check/budget.h"
#include "borescope/check/run_statistics.h"

namespace borescope::internal {

namespace {

constexpr double kSmallestKernel = 0.01;  // relative to the step

const MetricKey kStepKey = {std::string(kStepMetric), ""};

// The values of all runs; a run without the kernel has 0.
std::vector<double> FilledValues(const std::vector<RunValues>& runs, const MetricKey& key) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const RunValues& run : runs) {
    const auto found = run.metrics.find(key);
    values.push_back(found == run.metrics.end() ? 0 : found->second.value);
  }
  return values;
}

bool HasValue(const std::vector<RunValues>& runs, const MetricKey& key) {
  const std::vector<double> values = FilledValues(runs, key);
  return std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

bool MattersIn(const std::vector<RunValues>& runs, const MetricKey& key) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunValues& run) {
    const auto metric = run.metrics.find(key);
    const auto step = run.metrics.find(kStepKey);
    return metric != run.metrics.end() && step != run.metrics.end() &&
           metric->second.value >= kSmallestKernel * step->second.value;
  });
}

bool IsIn(const std::vector<RunValues>& runs, const MetricKey& key) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunValues& run) { return run.metrics.contains(key); });
}

// Whether a metric can be compared. A class or kernel that a run lacks took no time there; all
// other metrics are unknown if they were not measured. If all values are 0 there is nothing to
// compare.
bool IsCompared(const JudgedRuns& runs, const MetricKey& key) {
  const bool is_work = key.first == kClassMetric || key.first == kKernelMetric;
  return is_work || (IsIn(runs.base, key) && IsIn(runs.test, key) &&
                     (HasValue(runs.base, key) || HasValue(runs.test, key)));
}

std::set<MetricKey> KeysOf(const JudgedRuns& runs) {
  std::set<MetricKey> keys;
  for (const std::vector<RunValues>* side : {&runs.base, &runs.test}) {
    for (const RunValues& run : *side) {
      for (const auto& [key, value] : run.metrics) {
        const bool is_small = key.first == kKernelMetric && !MattersIn(*side, key);
        if (key.first != kBudgetMetric && !is_small && IsCompared(runs, key)) {
          keys.insert(key);
        }
      }
    }
  }
  return keys;
}

const MetricValue* OnlyValue(const std::vector<RunValues>& runs, const MetricKey& key) {
  if (runs.size() != 1) {
    return nullptr;
  }
  const auto found = runs.front().metrics.find(key);
  return found == runs.front().metrics.end() ? nullptr : &found->second;
}

// Runs of the same program have the same counts, so there is nothing to test.
GateRow RowOfCalls(const JudgedRuns& runs, const MetricKey& key, const ComparisonRules& rules) {
  GateRow row{key, Unit::kCount, {}, {}};
  row.comparison.base = MedianOf(FilledValues(runs.base, key));
  row.comparison.test = MedianOf(FilledValues(runs.test, key));
  const double change = row.comparison.test - row.comparison.base;
  if (row.comparison.base > 0) {
    row.comparison.change = change / row.comparison.base;
  }
  row.verdict = std::abs(change) <= rules.least * row.comparison.base ? Verdict::kSame
                : change > 0                                          ? Verdict::kMore
                                                                      : Verdict::kFewer;
  return row;
}

GateRow RowOf(const JudgedRuns& runs, const MetricKey& key, const ComparisonRules& rules) {
  GateRow row{key, Unit::kNanoseconds, {}, {}};
  row.comparison = CompareRuns(FilledValues(runs.base, key), FilledValues(runs.test, key),
                               SpreadOf(runs.history, key), rules);
  const MetricValue* const base = OnlyValue(runs.base, key);
  const MetricValue* const test = OnlyValue(runs.test, key);
  if (row.comparison.by == ChangeTest::kNone && base != nullptr && test != nullptr) {
    AddIntervalOfSteps(base->steps, test->steps, rules.alpha, row.comparison);
  }
  CompareWithNoise(NoiseOf(runs.base, key), NoiseOf(runs.test, key), rules, row.comparison);
  return row;
}

size_t OrderOf(const MetricKey& key) {
  constexpr std::string_view kOrder[] = {kStepMetric,  kHostMetric,   kDeviceMetric,
                                         kClassMetric, kKernelMetric, kCallsMetric};
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), key.first) -
                             std::begin(kOrder));
}

void SortRows(std::vector<GateRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const GateRow& a, const GateRow& b) {
    const double size_a = std::max(a.comparison.base, a.comparison.test);
    const double size_b = std::max(b.comparison.base, b.comparison.test);
    const bool is_first_a = a.key == kStepKey;
    const bool is_first_b = b.key == kStepKey;
    return is_first_a != is_first_b           ? is_first_a
           : OrderOf(a.key) != OrderOf(b.key) ? OrderOf(a.key) < OrderOf(b.key)
           : size_a != size_b                 ? size_a > size_b
                                              : a.key < b.key;
  });
}

void SetVerdict(const ComparisonRules& rules, double worse_p, double better_p, GateRow& row) {
  row.verdict = VerdictOf(row.comparison, rules, worse_p, better_p);
  MetricComparison tested = row.comparison;
  tested.beyond = SeenNoise::kNone;
  row.rests_on_noise = VerdictOf(tested, rules, worse_p, better_p) != row.verdict;
}

// The time of the step is tested alone, as it is the question asked in advance; all other rows are
// corrected together. If every row decides, the step is one of them.
void JudgeRows(const ComparisonRules& rules, bool all, std::vector<GateRow>& rows) {
  std::vector<GateRow*> family;
  std::vector<double> worse;
  std::vector<double> better;
  for (GateRow& row : rows) {
    row.q = row.comparison.worse_p;
    const bool is_primary = row.key == kStepKey && !all;
    if (row.comparison.by == ChangeTest::kNone || is_primary) {
      SetVerdict(rules, row.comparison.worse_p.value_or(1), row.comparison.better_p.value_or(1),
                 row);
    } else {
      family.push_back(&row);
      worse.push_back(*row.comparison.worse_p);
      better.push_back(*row.comparison.better_p);
    }
  }
  worse = FalseDiscoveryRates(worse);
  better = FalseDiscoveryRates(better);
  for (size_t i = 0; i < family.size(); ++i) {
    family[i]->q = worse[i];
    SetVerdict(rules, worse[i], better[i], *family[i]);
  }
}

}  // namespace

RunSpread SpreadOf(const std::vector<std::vector<RunValues>>& groups, const MetricKey& key) {
  std::vector<std::vector<double>> logs;
  logs.reserve(groups.size());
  for (const std::vector<RunValues>& group : groups) {
    logs.emplace_back();
    for (const double value : ValuesOf(group, key)) {
      // 0 has no logarithm, so it says nothing about factors.
      if (value > 0) {
        logs.back().push_back(std::log(value));
      }
    }
  }
  return PooledSpread(logs);
}

// A run without the kernel has 0 in every step.
std::vector<RunNoise> NoiseOf(const std::vector<RunValues>& runs, const MetricKey& key) {
  std::vector<RunNoise> noise;
  noise.reserve(runs.size());
  for (const RunValues& run : runs) {
    const auto found = run.metrics.find(key);
    if (found != run.metrics.end()) {
      noise.push_back(
          {found->second.value, found->second.least, found->second.most, found->second.samples});
    } else if (key.first != kBudgetMetric) {
      noise.push_back({0, 0.0, 0.0, run.steps});
    }
  }
  return noise;
}

std::vector<GateRow> GateRows(const JudgedRuns& runs, const JudgeOptions& options) {
  ComparisonRules rules;
  rules.least = options.fail;
  std::vector<GateRow> rows;
  std::vector<GateRow> in_one;  // with rows that need no test
  for (const MetricKey& key : runs.base.empty() ? std::set<MetricKey>() : KeysOf(runs)) {
    const bool in_base = HasValue(runs.base, key);
    const bool in_test = HasValue(runs.test, key);
    if (key.first == kCallsMetric) {
      in_one.push_back(RowOfCalls(runs, key, rules));
    } else if (in_base && in_test) {
      rows.push_back(RowOf(runs, key, rules));
    } else if (in_base || in_test) {
      in_one.push_back(RowOf(runs, key, rules));
      in_one.back().verdict = in_test ? Verdict::kNew : Verdict::kGone;
    }
  }
  JudgeRows(rules, options.all, rows);
  rows.insert(rows.end(), in_one.begin(), in_one.end());
  SortRows(rows);
  return rows;
}

namespace {

constexpr std::string_view kBaselineRule = "baseline";

MetricKey KeyOf(const Budget& budget) { return {std::string(kBudgetMetric), budget.name}; }

// Quotes a word for a POSIX shell.
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

// A shell comment on one line, for any text.
std::string CommentOf(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return "  # " + text;
}

// A command that shows the number; conditions that it cannot select follow as a comment.
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

// The check of one limit with the value of the median run.
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

// What the median run is more than the value of the check, where that is a rounded whole number:
// between runs of the same value the one in the middle decides. nullopt if it is not known.
std::optional<double> RestOfMedian(const Budget& budget, double median, const JudgedRuns& runs) {
  size_t below = 0;
  std::vector<double> rests;
  for (const RunValues& run : runs.test) {
    const MetricValue& metric = run.metrics.at(KeyOf(budget));
    below += metric.value < median ? 1 : 0;
    if (metric.value == median) {
      if (!metric.rest.has_value()) {
        return std::nullopt;
      }
      rests.push_back(*metric.rest);
    }
  }
  // The places of the middle among all runs, and in those of the same value.
  const size_t high = runs.test.size() / 2;
  const size_t low = runs.test.size() % 2 == 1 ? high : high - 1;
  if (low < below || high - below >= rests.size()) {
    return std::nullopt;  // the mean of two that differ
  }
  std::sort(rests.begin(), rests.end());
  return (rests[low - below] + rests[high - below]) / 2;
}

BudgetCheck CheckLimit(const Budget& budget, bool is_max, const JudgedRuns& runs) {
  BudgetCheck check = CheckOf(budget, is_max ? "max" : "min", runs);
  const BudgetAmount& limit = is_max ? *budget.max : *budget.min;
  check.limit = limit.value;
  const std::string value = AmountText(check.value, check.unit);
  const std::string bound = AmountText(limit.value, check.unit);
  double above = check.value - limit.value;
  // Rounding keeps the order of whole numbers, but may make two of them equal.
  const bool is_rounded = above == 0 && std::abs(limit.value) >= kFirstRounded;
  if (is_rounded) {
    const std::optional<double> rest = RestOfMedian(budget, check.value, runs);
    if (!rest.has_value()) {
      check.status = BudgetStatus::kCannotTell;
      check.sentence = fmt::format(
          "{} and {} differ, if at all, in digits that are not kept of a number of this size",
          value, bound);
      return check;
    }
    above = *rest - limit.rest;
  }
  const bool is_kept = is_max ? above <= 0 : above >= 0;
  check.status = is_kept ? BudgetStatus::kKept : BudgetStatus::kBroken;
  check.sentence = fmt::format("{} is {} {}", value,
                               is_kept  ? "within"
                               : is_max ? "above"
                                        : "below",
                               bound);
  if (is_rounded && above != 0) {
    check.sentence += fmt::format(", by {:.0f}", std::abs(above));
  } else if (!is_kept && value == bound) {  // they differ in digits that are not written
    check.sentence += ", by " + AmountText(std::abs(above), check.unit);
  }
  return check;
}

// Whether runs of the same program have exactly the same value.
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
  return fmt::format(
      "nothing was tested: {} v {} runs, and {:.4g} % of confidence needs {} v {}, or --history",
      runs.base.size(), runs.test.size(), 100 * (1 - rules.alpha), RunsNeeded(rules.alpha),
      RunsNeeded(rules.alpha));
}

// Why a change counts that no test supports.
std::string NoiseText(const MetricComparison& compared) {
  return compared.beyond == SeenNoise::kRuns
             ? fmt::format("more than {:.1f} %, by which runs of one side differ",
                           100 * compared.noise)
         : compared.beyond == SeenNoise::kSteps
             ? fmt::format(
                   "more than all observed noise: steps within a run differ by {:.1f} %, and "
                   "single runs of one program by up to {:.0f} %",
                   100 * compared.noise, 100 * kMostBetweenRuns)
             : "";
}

double LeastOf(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// A comparison to be judged together with others.
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
  const bool is_told =
      pending.comparison.by == ChangeTest::kNone && verdict != Verdict::kCannotTell;
  check.is_tested = pending.comparison.by != ChangeTest::kNone || is_told;
  check.sentence = is_told ? fmt::format("{}; {}", ChangeText(check), NoiseText(pending.comparison))
                   : !check.is_tested
                       ? fmt::format("{}; {}", WhyNothing(pending.rules, runs), ChangeText(check))
                       : ChangeText(check);
}

bool IsOfBudget(const MetricValue& value, const MetricValue& wanted) {
  return value.unit == wanted.unit && value.definition == wanted.definition;
}

// Groups of runs with only the values of the same budget.
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

// Why a budget cannot be compared with the baseline; empty if it can.
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

// Compares a budget with the baseline; nullopt if it is decided already.
std::optional<PendingCheck> CompareBudget(const Budget& budget, const JudgedRuns& runs,
                                          std::vector<BudgetCheck>& checks) {
  const MetricKey key = KeyOf(budget);
  BudgetCheck check = CheckOf(budget, kBaselineRule, runs);
  const ComparisonRules rules = RulesOf(budget, check.unit);
  std::optional<PendingCheck> pending;
  check.sentence = WhyNoBase(runs, key);
  if (!check.sentence.empty()) {
    check.status = BudgetStatus::kCannotTell;
    check.is_tested = false;
    checks.push_back(std::move(check));
    return pending;
  }
  const std::vector<double> base = ValuesOf(runs.base, key);
  const RunSpread spread =
      SpreadOf(OfBudget(runs.history, key, runs.test.front().metrics.at(key)), key);
  MetricComparison compared = CompareRuns(base, ValuesOf(runs.test, key), spread, rules);
  CompareWithNoise(NoiseOf(runs.base, key), NoiseOf(runs.test, key), rules, compared);
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

// Corrects several comparisons by Holm, as together they decide one exit status.
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

std::string IntervalText(const MetricComparison& compared) {
  return compared.low.has_value()
             ? fmt::format(" ({:+.1f} .. {:+.1f} %{})", 100 * *compared.low, 100 * *compared.high,
                           compared.is_within_runs ? " by steps within the runs" : "")
             : "";
}

std::string SentenceOf(const GateRow& row, const JudgedRuns& runs) {
  const MetricComparison& compared = row.comparison;
  if (row.key.first == kCallsMetric) {
    return fmt::format("{}, {:.6g} a step after {:.6g}", VerdictName(row.verdict), compared.test,
                       compared.base);
  }
  const std::string change =
      fmt::format("{:+.1f} %{}", 100 * compared.change.value_or(0), IntervalText(compared));
  if (row.verdict == Verdict::kCannotTell) {
    return compared.by != ChangeTest::kNone
               ? change
               : fmt::format(
                     "nothing was tested: {} v {} runs are too few; 3 v 3 can tell, or --history; "
                     "{}",
                     runs.base.size(), runs.test.size(), change);
  }
  return fmt::format("{}, {}{}", VerdictName(row.verdict), change,
                     row.rests_on_noise ? "; " + NoiseText(compared) : "");
}

bool IsOf(const GateRow& row, std::string_view kind, std::string_view name) {
  return row.key.first == kind && row.key.second == name;
}

// Host, device and communication may be slower without a slower step, as a profiler slows the host,
// which hides changes of the device. They decide if they are slower by an amount that matters to
// the step, unless the step became faster, or is slower itself.
bool DecidesBesideStep(const GateRow& row, const GateRow& step, double fail) {
  const bool may_decide = IsOf(row, kHostMetric, "") || IsOf(row, kDeviceMetric, kBusyTime) ||
                          IsOf(row, kClassMetric, kCollectiveTime);
  const double amount = row.comparison.test - row.comparison.base;
  return may_decide && row.verdict == Verdict::kWorse && step.verdict != Verdict::kBetter &&
         step.verdict != Verdict::kWorse && amount >= fail * step.comparison.base;
}

void SetDeciding(const JudgeOptions& options, bool steps_decide, std::vector<GateRow>& rows) {
  const bool has_step = !rows.empty() && IsOf(rows.front(), kStepMetric, "");
  for (GateRow& row : rows) {
    const bool decides_beside =
        steps_decide && has_step && DecidesBesideStep(row, rows.front(), options.fail);
    row.decides = options.all || (steps_decide && IsOf(row, kStepMetric, "")) || decides_beside;
    // New or more kernels are no failure in themselves; their time is part of the step.
    row.decides = row.decides && row.verdict <= Verdict::kCannotTell;
  }
}

std::string ChangeWords(const GateRow& row) {
  const std::optional<double>& change = row.comparison.change;
  return change.has_value() ? fmt::format(" ({:+.1f} %)", 100 * *change) : "";
}

// The three largest changes that decide nothing, so that a kept check is not mistaken for equal
// runs.
std::string AlsoChanged(const std::vector<GateRow>& rows) {
  constexpr size_t kMostNamed = 3;
  std::vector<const GateRow*> changed;
  for (const GateRow& row : rows) {
    const bool is_part = row.key.first != kKernelMetric && !IsOf(row, kDeviceMetric, "idle");
    const bool is_told = row.verdict == Verdict::kWorse || row.verdict == Verdict::kMore;
    if (!row.decides && is_part && is_told) {
      changed.push_back(&row);
    }
  }
  std::stable_sort(changed.begin(), changed.end(), [](const GateRow* a, const GateRow* b) {
    return a->comparison.change.value_or(0) > b->comparison.change.value_or(0);
  });
  std::string text;
  for (size_t i = 0; i < std::min(changed.size(), kMostNamed); ++i) {
    text += fmt::format("{}{} {}{}", i == 0 ? "; but " : ", ", NameOf(*changed[i]),
                        VerdictName(changed[i]->verdict), ChangeWords(*changed[i]));
  }
  return text;
}

bool IsUntested(const GateRow& row) {
  return row.comparison.by == ChangeTest::kNone && row.verdict == Verdict::kCannotTell;
}

// Whether nothing that should decide was compared with the baseline by a test.
bool IsUntested(const JudgedRuns& runs, const JudgedCheck& outcome) {
  const bool any_tested_budget = std::any_of(
      outcome.budgets.begin(), outcome.budgets.end(),
      [](const BudgetCheck& check) { return check.rule == kBaselineRule && check.is_tested; });
  const bool any_tested_row =
      std::any_of(outcome.gate.begin(), outcome.gate.end(),
                  [](const GateRow& row) { return row.decides && !IsUntested(row); });
  return !runs.base.empty() && !any_tested_budget && !any_tested_row;
}

// Sets the worst status, and the first check that has it.
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
        outcome.why = fmt::format("{}: {}", NameOf(row), row.sentence);
        return;
      }
    }
  }
  const auto step = std::find_if(outcome.gate.begin(), outcome.gate.end(),
                                 [](const GateRow& row) { return row.decides; });
  if (step != outcome.gate.end()) {
    outcome.why = fmt::format("{}: {}", NameOf(*step), step->sentence);
  } else if (!outcome.budgets.empty()) {
    outcome.why = "every budget is kept";
  } else {
    // A baseline without anything in common with the runs proves nothing.
    outcome.status = runs.base.empty() ? BudgetStatus::kKept : BudgetStatus::kCannotTell;
    outcome.why = runs.base.empty()
                      ? "nothing was asked: no budget, no baseline"
                      : "nothing was tested: the baseline has no step to compare with";
  }
}

}  // namespace

std::string_view BudgetStatusName(BudgetStatus status) {
  constexpr std::string_view kNames[] = {"kept", "broken", "cannot tell", "void"};
  return kNames[static_cast<size_t>(status)];
}

std::string NameOf(const GateRow& row) {
  return row.key.second.empty() ? row.key.first + " time"
                                : fmt::format("{} {}", row.key.first, row.key.second);
}

JudgedCheck Judge(const JudgedRuns& runs, const BudgetFile& file, const JudgeOptions& options) {
  JudgedCheck outcome;
  outcome.budgets = CheckBudgets(file, runs);
  outcome.gate = GateRows(runs, options);
  // Budgets about the baseline define what matters, and by how much.
  SetDeciding(options, !HasComparison(file), outcome.gate);
  for (GateRow& row : outcome.gate) {
    row.sentence = SentenceOf(row, runs);
  }
  Conclude(runs, outcome);
  outcome.is_untested = IsUntested(runs, outcome);
  if (outcome.status != BudgetStatus::kBroken) {
    outcome.why += AlsoChanged(outcome.gate);
  }
  return outcome;
}

}  // namespace borescope::internal
