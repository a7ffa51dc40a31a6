#include "borescope/check/compare_metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "borescope/base/statistics/statistics.h"

namespace borescope::internal {

namespace {

using Values = std::vector<double>;

struct Noise {
  double between = 0.025;  // runs
  double within = 0.02;    // steps
  double follows = 0.6;    // autocorrelation of neighbouring steps
};

class Simulation {
 public:
  explicit Simulation(uint32_t seed) : random_(seed) {}

  // The median of 20 steps around 100 ms, the first dropped.
  double Run(double factor, const Noise& noise) { return MedianOf(Steps(factor, noise)); }

  Values Steps(double factor, const Noise& noise) {
    const double level = std::exp(noise.between * normal_(random_));
    double state = normal_(random_);
    Values steps;
    for (int i = 0; i < 19; ++i) {
      state =
          noise.follows * state + std::sqrt(1 - noise.follows * noise.follows) * normal_(random_);
      steps.push_back(1e8 * factor * level * std::exp(noise.within * state));
    }
    return steps;
  }

  Values Runs(int count, double factor, const Noise& noise) {
    Values runs;
    for (int i = 0; i < count; ++i) {
      runs.push_back(Run(factor, noise));
    }
    return runs;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

Verdict Judge(const Values& base, const Values& test, const RunSpread& history,
              const ComparisonRules& rules) {
  const MetricComparison comparison = CompareRuns(base, test, history, rules);
  return VerdictOf(comparison, rules, comparison.worse_p.value_or(1),
                   comparison.better_p.value_or(1));
}

// How many of 1,000 pairs are worse, if the test is `factor` times as slow.
int CountWorse(int base_runs, int test_runs, double factor, const ComparisonRules& rules,
               const RunSpread& history = {}) {
  Simulation simulation(static_cast<uint32_t>(base_runs * 100 + test_runs));
  int worse = 0;
  for (int i = 0; i < 1000; ++i) {
    const Values base = simulation.Runs(base_runs, 1, {});
    const Values test = simulation.Runs(test_runs, factor, {});
    worse += Judge(base, test, history, rules) == Verdict::kWorse ? 1 : 0;
  }
  return worse;
}

// 5 %, and two standard errors of a count of 1,000. There is no limit of the change, so that only
// the test decides.
TEST(CompareRunsTest, FewFalseAlarmsOfOneProgram) {
  constexpr int kMost = 64;
  ComparisonRules any;
  any.least = 0;
  any.least_amount = 0;
  const int sizes[][2] = {{3, 3}, {4, 4}, {5, 5}, {2, 5}, {10, 3}, {6, 1}, {8, 2}};
  for (const auto& [base, test] : sizes) {
    EXPECT_LE(CountWorse(base, test, 1, any), kMost) << base << " v " << test;
    EXPECT_LE(CountWorse(base, test, 1, {}), kMost) << base << " v " << test;
  }
}

// Ranks of so few runs cannot reach 1 %, so their spread decides. 1 %, and two standard errors.
TEST(CompareRunsTest, FewFalseAlarmsOfMoreConfidence) {
  ComparisonRules rules;
  rules.alpha = 0.01;
  rules.least = 0;
  rules.least_amount = 0;
  const int sizes[][2] = {{3, 3}, {4, 3}, {5, 5}, {8, 1}};
  for (const auto& [base, test] : sizes) {
    EXPECT_LE(CountWorse(base, test, 1, rules), 17) << base << " v " << test;
  }
}

TEST(CompareRunsTest, FewFalseAlarmsOfSingleRunsWithHistory) {
  ComparisonRules any;
  any.least = 0;
  any.least_amount = 0;
  Simulation simulation(7);
  int worse = 0;
  for (int i = 0; i < 1000; ++i) {
    Values logs = simulation.Runs(6, 1, {});
    for (double& value : logs) {
      value = std::log(value);
    }
    const RunSpread history = PooledSpread(std::vector<Values>{logs});
    worse +=
        Judge(simulation.Runs(1, 1, {}), simulation.Runs(1, 1, {}), history, any) == Verdict::kWorse
            ? 1
            : 0;
  }
  EXPECT_LE(worse, 64);
}

// A change as large as what is mostly said to be detectable is found in about 80 % of all cases.
TEST(CompareRunsTest, DetectableChangesAreFound) {
  const int sizes[][2] = {{3, 3}, {4, 4}, {5, 5}, {8, 8}, {10, 3}};
  for (const double least : {0.0, 0.03}) {
    for (const auto& [base, test] : sizes) {
      ComparisonRules rules;
      rules.least = least;
      Simulation simulation(11);
      Values printed;
      for (int i = 0; i < 200; ++i) {
        printed.push_back(
            *CompareRuns(simulation.Runs(base, 1, {}), simulation.Runs(test, 1, {}), {}, rules)
                 .detectable);
      }
      const int found = CountWorse(base, test, 1 + MedianOf(printed), rules);
      EXPECT_GE(found, 730) << base << " v " << test << ", least " << least;
      EXPECT_LE(found, 880) << base << " v " << test << ", least " << least;
    }
  }
}

// The usual way, steps as samples, for docs/use/check.md: it does not work.
TEST(CompareRunsTest, StepsAsSamplesRaiseFalseAlarms) {
  Simulation simulation(13);
  ComparisonRules any;
  any.least = 0;
  any.least_amount = 0;
  int worse = 0;
  for (int i = 0; i < 300; ++i) {
    worse += Judge(simulation.Steps(1, {}), simulation.Steps(1, {}), {}, any) == Verdict::kWorse;
  }
  EXPECT_GT(worse, 75);
}

TEST(CompareRunsTest, OneRunASideIsNoEvidence) {
  const MetricComparison comparison = CompareRuns(Values{1e8}, Values{2e8}, {}, {});
  EXPECT_EQ(comparison.by, ChangeTest::kNone);
  EXPECT_NEAR(*comparison.change, 1, 1e-12);
  EXPECT_FALSE(comparison.detectable.has_value());
  EXPECT_EQ(VerdictOf(comparison, {}, 0, 0), Verdict::kCannotTell);
  // Nor are two.
  EXPECT_EQ(CompareRuns(Values{1e8, 1e8}, Values{2e8, 2e8}, {}, {}).by, ChangeTest::kNone);
}

TEST(CompareRunsTest, VerdictsOfClearCases) {
  const Values base = {100e6, 101e6, 102e6, 100.5e6};
  EXPECT_EQ(Judge(base, {110e6, 111e6, 112e6}, {}, {}), Verdict::kWorse);
  EXPECT_EQ(Judge(base, {90e6, 91e6, 92e6}, {}, {}), Verdict::kBetter);
  EXPECT_EQ(Judge(base, {100.2e6, 101.1e6, 100.9e6}, {}, {}), Verdict::kSame);
  // A change above 0, but below what matters.
  EXPECT_EQ(Judge(base, {103e6, 103.2e6, 103.1e6}, {}, {}), Verdict::kCannotTell);
  // Less than a microsecond.
  EXPECT_EQ(Judge({1000, 1001, 1002}, {1500, 1501, 1502}, {}, {}), Verdict::kCannotTell);
  ComparisonRules rules;
  rules.less_is_worse = true;
  EXPECT_EQ(Judge(base, {90e6, 91e6, 92e6}, {}, rules), Verdict::kWorse);
}

TEST(CompareRunsTest, OrderOfRunsIsIrrelevant) {
  const MetricComparison one = CompareRuns(Values{3e8, 1e8, 2e8}, Values{5e8, 4e8, 6e8}, {}, {});
  const MetricComparison other = CompareRuns(Values{1e8, 2e8, 3e8}, Values{6e8, 5e8, 4e8}, {}, {});
  EXPECT_EQ(one.worse_p, other.worse_p);
  EXPECT_EQ(one.change, other.change);
  EXPECT_EQ(one.detectable, other.detectable);
}

RunNoise NoiseOf(const Values& steps) {
  return {MedianOf(steps), *std::min_element(steps.begin(), steps.end()),
          *std::max_element(steps.begin(), steps.end()), static_cast<int64_t>(steps.size())};
}

// How many of 1,000 pairs are beyond all noise, if the test is `factor` times as slow.
int CountBeyond(int runs, double factor, const Noise& noise) {
  Simulation simulation(static_cast<uint32_t>(7000 + runs));
  int beyond = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<RunNoise> base;
    std::vector<RunNoise> test;
    Values base_values;
    Values test_values;
    for (int run = 0; run < runs; ++run) {
      base.push_back(NoiseOf(simulation.Steps(1, noise)));
      test.push_back(NoiseOf(simulation.Steps(factor, noise)));
      base_values.push_back(base.back().value);
      test_values.push_back(test.back().value);
    }
    MetricComparison comparison = CompareRuns(base_values, test_values, {}, {});
    CompareWithNoise(base, test, {}, comparison);
    beyond += comparison.beyond != SeenNoise::kNone && comparison.test > comparison.base ? 1 : 0;
  }
  return beyond;
}

// The rule has no level: it finds changes that no noise causes, and says nothing about others.
TEST(CompareMetricTest, WhatIsBeyondAnyNoiseIsNone) {
  for (const Noise& noise : {Noise{}, Noise{0.1, 0.05, 0.6}, Noise{0.12, 0.02, 0}}) {
    EXPECT_LE(CountBeyond(1, 1, noise), noise.between < 0.05 ? 1 : 50) << noise.between;
    EXPECT_LE(CountBeyond(3, 1, noise), 12) << noise.between;
    EXPECT_LE(CountBeyond(5, 1, noise), 1) << noise.between;
  }
  EXPECT_GE(CountBeyond(1, 2, {}), 990);
  EXPECT_GE(CountBeyond(3, 1.3, {}), 800);
}

TEST(CompareMetricTest, NoiseMustBeKnown) {
  const auto beyond = [](const RunNoise& base, const RunNoise& test) {
    MetricComparison comparison =
        CompareRuns(std::vector{base.value}, std::vector{test.value}, {}, {});
    CompareWithNoise({&base, 1}, {&test, 1}, {}, comparison);
    return comparison.beyond;
  };
  EXPECT_EQ(beyond({100, 99, 101, 5}, {200, 199, 201, 5}), SeenNoise::kSteps);
  EXPECT_EQ(beyond({100, {}, {}, 5}, {200, 199, 201, 5}), SeenNoise::kNone);
  EXPECT_EQ(beyond({100, 100, 100, 1}, {200, 199, 201, 5}), SeenNoise::kNone);
  EXPECT_EQ(beyond({100, 99, 101, 5}, {200, 100, 300, 5}), SeenNoise::kNone);
  EXPECT_EQ(beyond({0, 0, 0, 5}, {200, 199, 201, 5}), SeenNoise::kNone);
}

}  // namespace

}  // namespace borescope::internal
