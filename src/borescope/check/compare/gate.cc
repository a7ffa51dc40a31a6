#include "borescope/check/compare/gate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "borescope/base/statistics/quantile.h"
#include "borescope/check/statistics/run_statistics.h"

namespace borescope::internal {
namespace {

constexpr double kSmallestKernel = 0.01;  // of a step

const MetricKey kStepKey = {std::string(kStepMetric), ""};

// A run without a kernel had none of its time.
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

// A class or kernel that a run does not have took no time there; of all others nothing is known
// where they were not measured, and where all are 0 there is nothing to compare.
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

// Counts of runs of one program are the same, or the program is not: there is nothing to test.
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

// The time of the step is the one question asked in advance; all others are looked at together. If
// every row decides, it is one of them.
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
      // 0 has no logarithm: it says nothing about factors.
      if (value > 0) {
        logs.back().push_back(std::log(value));
      }
    }
  }
  return PooledSpread(logs);
}

// A run without a kernel had none of its time, in any step.
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
  std::vector<GateRow> in_one;  // and what needs no test
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

}  // namespace borescope::internal
