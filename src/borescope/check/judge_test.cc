#include "borescope/check/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "borescope/check/budget.h"

namespace borescope::internal {

namespace {

using Runs = std::vector<RunValues>;

MetricKey StepKey() { return {std::string(kStepMetric), ""}; }

// A program with a step of 100 ms, and kernels whose times vary from run to run.
class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {}

  RunValues Run(double factor = 1, double factor_of_first = 1) {
    RunValues run;
    run.name = "run";
    run.steps = 20;
    const double level = std::exp(0.02 * normal_(random_));
    for (int kernel = 0; kernel < kKernels; ++kernel) {
      const double own = std::exp(0.01 * normal_(random_));
      run.metrics[KeyOf(kernel)].value =
          5e6 * factor * level * own * (kernel == 0 ? factor_of_first : 1);
    }
    run.metrics[StepKey()].value = 1e8 * factor * level;
    return run;
  }

  Runs RunsOf(int count, double factor = 1, double factor_of_first = 1) {
    Runs runs;
    for (int i = 0; i < count; ++i) {
      runs.push_back(Run(factor, factor_of_first));
    }
    return runs;
  }

  static MetricKey KeyOf(int kernel) {
    return {std::string(kKernelMetric), "kernel " + std::to_string(kernel)};
  }
  static constexpr int kKernels = 12;

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

const GateRow& RowOfKey(const JudgedCheck& judged, const MetricKey& key) {
  return *std::find_if(judged.gate.begin(), judged.gate.end(),
                       [&](const GateRow& row) { return row.key == key; });
}

// An unchanged program fails in at most 5 % of all checks, however many metrics there are.
TEST(JudgeTest, FewFalseAlarmsOfSeveralMetrics) {
  for (const bool all : {false, true}) {
    Program program(all ? 1 : 2);
    int broken = 0;
    for (int i = 0; i < 1000; ++i) {
      const JudgedRuns runs{program.RunsOf(5), program.RunsOf(5), {}};
      broken += Judge(runs, {}, {0, all}).status == BudgetStatus::kBroken ? 1 : 0;
    }
    EXPECT_LE(broken, 64) << all;
  }
}

// A single kernel that is slower by the detectable change is found among others.
TEST(JudgeTest, OneSlowKernelIsFound) {
  Program program(3);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    const JudgedRuns runs{program.RunsOf(8), program.RunsOf(8, 1, 1.08), {}};
    const JudgedCheck judged = Judge(runs, {}, {0.02, false});
    found += RowOfKey(judged, Program::KeyOf(0)).verdict == Verdict::kWorse ? 1 : 0;
    EXPECT_FALSE(RowOfKey(judged, Program::KeyOf(0)).decides);
  }
  EXPECT_GE(found, 240);
}

// Without steps the noise of two runs is unknown.
TEST(JudgeTest, OneRunASideCannotTell) {
  Program program(4);
  const JudgedRuns runs{program.RunsOf(1), program.RunsOf(1, 2), {}};
  const JudgedCheck judged = Judge(runs, {}, {});
  EXPECT_EQ(judged.status, BudgetStatus::kCannotTell);
  EXPECT_TRUE(judged.is_untested);
  EXPECT_TRUE(judged.why.starts_with(
      "step time: nothing was tested: 1 v 1 runs are too few; 3 v 3 can tell, or --history; +"))
      << judged.why;
}

RunValues WithSteps(RunValues run, double noise) {
  for (auto& [key, metric] : run.metrics) {
    metric.samples = 5;
    metric.least = metric.value * (1 - noise);
    metric.most = metric.value * (1 + noise);
  }
  return run;
}

TEST(JudgeTest, OneRunASideFailsBeyondAnyNoise) {
  Program program(7);
  const auto judged = [&](double factor, double noise) {
    return Judge({{WithSteps(program.Run(), noise)}, {WithSteps(program.Run(factor), noise)}, {}},
                 {}, {});
  };
  const JudgedCheck slower = judged(5, 0.02);
  EXPECT_EQ(slower.status, BudgetStatus::kBroken);
  EXPECT_FALSE(slower.is_untested);
  EXPECT_NE(slower.why.find("more than all observed noise: steps within a run differ by"),
            std::string::npos)
      << slower.why;
  // Differences as between single runs of one program, or between steps, are no change.
  EXPECT_EQ(judged(1.25, 0.02).status, BudgetStatus::kCannotTell);
  EXPECT_EQ(judged(2, 0.6).status, BudgetStatus::kCannotTell);
  EXPECT_TRUE(judged(2, 0.6).is_untested);
  EXPECT_EQ(judged(0.3, 0.02).status, BudgetStatus::kKept);
  EXPECT_TRUE(judged(0.3, 0.02).why.starts_with("step time: faster, -"));
}

Runs WithMetric(Runs runs, std::string_view kind, std::string_view name, double value) {
  for (RunValues& run : runs) {
    MetricValue& metric = run.metrics[{std::string(kind), std::string(name)}];
    metric.value = value * run.metrics.at(StepKey()).value / 1e8;
    metric.unit = kind == kCallsMetric ? Unit::kCount : Unit::kNanoseconds;
  }
  return runs;
}

// The host determines the step, and hides what the device does.
TEST(JudgeTest, HostDeviceAndCommunicationDecideBesideTheStep) {
  constexpr std::pair<std::string_view, std::string_view> kBeside[] = {
      {kHostMetric, ""}, {kDeviceMetric, kBusyTime}, {kClassMetric, kCollectiveTime}};
  for (const auto& [kind, name] : kBeside) {
    Program program(8);
    const auto judged = [&](double value, double factor) {
      return Judge({WithMetric(program.RunsOf(3), kind, name, 3e7),
                    WithMetric(program.RunsOf(3, factor), kind, name, value),
                    {}},
                   {}, {});
    };
    EXPECT_EQ(judged(6e7, 1).status, BudgetStatus::kBroken) << kind;
    EXPECT_NE(judged(3e7, 1).status, BudgetStatus::kBroken) << kind;
    // Less than what matters to a step, or the step became faster.
    EXPECT_NE(judged(3.2e7, 1).status, BudgetStatus::kBroken) << kind;
    EXPECT_EQ(judged(9e7, 0.5).status, BudgetStatus::kKept) << kind;
  }
}

TEST(JudgeTest, WhatChangedAndDecidesNothingIsNamed) {
  Program program(9);
  const JudgedRuns runs{WithMetric(program.RunsOf(3), kCallsMetric, "kernels", 99),
                        WithMetric(program.RunsOf(3), kCallsMetric, "kernels", 198),
                        {}};
  const JudgedCheck judged = Judge(runs, {}, {});
  EXPECT_NE(judged.status, BudgetStatus::kBroken);
  EXPECT_NE(judged.why.find("; but calls kernels more ("), std::string::npos) << judged.why;
  const GateRow& row = RowOfKey(judged, {std::string(kCallsMetric), "kernels"});
  EXPECT_EQ(row.verdict, Verdict::kMore);
  // A baseline without counts cannot be compared.
  const JudgedRuns uncounted{program.RunsOf(3), runs.test, {}};
  EXPECT_EQ(Judge(uncounted, {}, {}).why.find("calls"), std::string::npos);
}

TEST(JudgeTest, ABaselineWithoutStepsTestsNothing) {
  RunValues saved;
  saved.name = "saved";
  Program program(10);
  const JudgedCheck judged = Judge({{saved}, program.RunsOf(1), {}}, {}, {});
  EXPECT_EQ(judged.status, BudgetStatus::kCannotTell);
  EXPECT_TRUE(judged.is_untested);
}

TEST(JudgeTest, HistoryKnowsHowMuchRunsDiffer) {
  Program program(5);
  const JudgedRuns runs{program.RunsOf(1), program.RunsOf(1, 1.3), {program.RunsOf(8)}};
  EXPECT_EQ(Judge(runs, {}, {}).status, BudgetStatus::kBroken);
  const JudgedRuns few{program.RunsOf(1), program.RunsOf(1, 1.3), {program.RunsOf(4)}};
  EXPECT_EQ(Judge(few, {}, {}).status, BudgetStatus::kCannotTell);
}

TEST(JudgeTest, KernelsOfOneSideAreNewOrGone) {
  Program program(6);
  JudgedRuns runs{program.RunsOf(3), program.RunsOf(3), {}};
  for (RunValues& run : runs.base) {
    run.metrics.erase(Program::KeyOf(0));
  }
  for (RunValues& run : runs.test) {
    run.metrics.erase(Program::KeyOf(1));
    run.metrics[{std::string(kKernelMetric), "small"}].value = 1e5;
  }
  const JudgedCheck judged = Judge(runs, {}, {});
  EXPECT_EQ(RowOfKey(judged, Program::KeyOf(0)).verdict, Verdict::kNew);
  EXPECT_EQ(RowOfKey(judged, Program::KeyOf(1)).verdict, Verdict::kGone);
  EXPECT_EQ(judged.gate.size(), 1U + Program::kKernels);
  EXPECT_EQ(judged.gate.front().key, StepKey());
}

BudgetFile BudgetOf(const std::string& rest) {
  return ReadBudgetFile("[[budget]]\nname = \"b\"\ntable = \"steps\"\ncolumn = \"c\"\n" + rest, "b")
      .value();
}

Runs BudgetRuns(std::initializer_list<double> values, Unit unit) {
  Runs runs;
  for (const double value : values) {
    runs.emplace_back();
    runs.back().metrics[{std::string(kBudgetMetric), "b"}] = {value, unit, 1, {}};
  }
  return runs;
}

BudgetStatus StatusOf(const std::string& rest, std::initializer_list<double> base,
                      std::initializer_list<double> test, Unit unit) {
  return Judge({BudgetRuns(base, unit), BudgetRuns(test, unit), {}}, BudgetOf(rest), {}).status;
}

TEST(JudgeTest, LimitsHoldOfTheMedianRun) {
  constexpr Unit kTime = Unit::kNanoseconds;
  EXPECT_EQ(StatusOf("max = \"1ms\"", {}, {1e6}, kTime), BudgetStatus::kKept);
  EXPECT_EQ(StatusOf("max = \"1ms\"", {}, {1e6 + 1}, kTime), BudgetStatus::kBroken);
  EXPECT_EQ(StatusOf("min = \"1ms\"", {}, {0.9e6}, kTime), BudgetStatus::kBroken);
  EXPECT_EQ(StatusOf("max = \"1ms\"", {}, {0.9e6, 5e6, 0.8e6}, kTime), BudgetStatus::kKept);
}

// From 2^53 on several whole numbers have the same double.
TEST(JudgeTest, WholeNumbersOfAllSizesAreCompared) {
  constexpr int64_t kFirst = int64_t{1} << 53;
  const auto status = [](int64_t limit, bool is_max, const std::vector<int64_t>& values) {
    const std::string rule = (is_max ? "max = " : "min = ") + std::to_string(limit);
    const BudgetFile file =
        ReadBudgetFile("[[budget]]\nname = \"b\"\nsql = \"select 1\"\n" + rule, "b").value();
    Runs runs;
    for (const int64_t value : values) {
      Table result{"query", "", {}};
      AddInt(result, "x", Unit::kNone, Role::kDerived, "");
      Push(result.columns[0], value);
      const BudgetValue measured = ValueOfResult(file.budgets[0], result).value();
      runs.emplace_back();
      runs.back().metrics[{std::string(kBudgetMetric), "b"}] = {
          measured.value, measured.unit, 1, {}, {}, {}, {}, measured.rest};
    }
    return Judge({{}, runs, {}}, file, {}).budgets.front().status;
  };
  for (const int64_t base :
       {int64_t{1000}, kFirst, kFirst * 100, std::numeric_limits<int64_t>::max() - 3}) {
    for (int64_t value = base - 3; value < base + 3; ++value) {
      for (int64_t limit = base - 3; limit < base + 3; ++limit) {
        EXPECT_EQ(status(limit, true, {value}) == BudgetStatus::kKept, value <= limit) << value;
        EXPECT_EQ(status(limit, false, {value}) == BudgetStatus::kKept, value >= limit) << value;
      }
    }
  }
  EXPECT_EQ(status(kFirst, true, {kFirst + 1, kFirst, kFirst - 1}), BudgetStatus::kKept);
  EXPECT_EQ(status(kFirst, true, {kFirst + 1, kFirst + 1, 3}), BudgetStatus::kBroken);
}

// A saved run has the double alone.
TEST(JudgeTest, DigitsThatWereNotKeptDecideNothing) {
  constexpr double kFirst = 9007199254740992.0;
  Runs runs = BudgetRuns({kFirst}, Unit::kCount);
  runs.front().metrics.begin()->second.rest.reset();
  const JudgedCheck judged = Judge({{}, runs, {}}, BudgetOf("max = 9007199254740992"), {});
  EXPECT_EQ(judged.status, BudgetStatus::kCannotTell);
  EXPECT_EQ(Judge({{}, runs, {}}, BudgetOf("max = 9007199254740991"), {}).status,
            BudgetStatus::kBroken);
}

TEST(JudgeTest, BudgetsAboutTheBaseline) {
  const std::string worse = "worse_than_baseline = {by = \"3%\"}";
  constexpr Unit kTime = Unit::kNanoseconds;
  EXPECT_EQ(StatusOf(worse, {}, {1e6}, kTime), BudgetStatus::kCannotTell);
  EXPECT_EQ(StatusOf(worse, {1e6}, {2e6}, kTime), BudgetStatus::kCannotTell);
  // With one run on each side, its rows show how much they vary.
  const auto one = [](double value) {
    Runs runs = BudgetRuns({value}, Unit::kNanoseconds);
    MetricValue& metric = runs.front().metrics.begin()->second;
    metric.samples = 5;
    metric.least = 0.98 * value;
    metric.most = 1.02 * value;
    return runs;
  };
  EXPECT_EQ(Judge({one(1e6), one(2e6), {}}, BudgetOf(worse), {}).status, BudgetStatus::kBroken);
  EXPECT_EQ(Judge({one(1e6), one(1.2e6), {}}, BudgetOf(worse), {}).status,
            BudgetStatus::kCannotTell);
  EXPECT_EQ(StatusOf(worse, {1e6, 1.01e6, 1.02e6}, {2e6, 2.1e6, 2.2e6}, kTime),
            BudgetStatus::kBroken);
  EXPECT_EQ(StatusOf(worse, {1e6, 1.01e6, 1.02e6}, {1.005e6, 1.01e6, 1.012e6}, kTime),
            BudgetStatus::kKept);
  // The ranks of 3 against 3 runs never reach 99 %, but the spread of 6 runs can; that of 3 against
  // 2 cannot.
  const std::string sure = "worse_than_baseline = {confidence = 0.99}";
  EXPECT_EQ(StatusOf(sure, {1e6, 1.01e6, 1.02e6}, {2e6, 2.1e6, 2.2e6}, kTime),
            BudgetStatus::kBroken);
  EXPECT_EQ(StatusOf(sure, {1e6, 1.01e6, 1.02e6}, {2e6, 2.1e6}, kTime), BudgetStatus::kCannotTell);
  // Counts are compared exactly, even of one run.
  EXPECT_EQ(StatusOf(worse, {100}, {103}, Unit::kCount), BudgetStatus::kKept);
  EXPECT_EQ(StatusOf(worse, {100}, {104}, Unit::kCount), BudgetStatus::kBroken);
  EXPECT_EQ(
      StatusOf("worse_than_baseline = {by = \"3%\", worse = \"less\"}", {100}, {90}, Unit::kBytes),
      BudgetStatus::kBroken);
}

// Shares and rates are often below 1: their logarithms are negative, and compared all the same.
TEST(JudgeTest, ValuesBelowOneAreCompared) {
  const std::string worse = "worse_than_baseline = {by = \"3%\"}";
  EXPECT_EQ(StatusOf(worse, {0.147, 0.148, 0.146, 0.149, 0.147},
                     {0.618, 0.617, 0.619, 0.616, 0.618}, Unit::kShare),
            BudgetStatus::kBroken);
  EXPECT_EQ(StatusOf(worse, {0.147, 0.148, 0.146, 0.149, 0.147},
                     {0.147, 0.1475, 0.1465, 0.1485, 0.147}, Unit::kShare),
            BudgetStatus::kKept);
  EXPECT_EQ(StatusOf("worse_than_baseline = {worse = \"less\"}", {0.8, 0.81, 0.79},
                     {0.4, 0.41, 0.39}, Unit::kNone),
            BudgetStatus::kBroken);
  // So is what is known of other runs.
  const Runs history = BudgetRuns({0.147, 0.148, 0.146, 0.149, 0.147, 0.148}, Unit::kShare);
  EXPECT_GT(SpreadOf({history}, {std::string(kBudgetMetric), "b"}).deviation, 0);
  EXPECT_EQ(Judge({BudgetRuns({0.147}, Unit::kShare), BudgetRuns({0.618}, Unit::kShare), {history}},
                  BudgetOf(worse), {})
                .status,
            BudgetStatus::kBroken);
}

TEST(JudgeTest, OfABaselineOfNothingTheAmountDecides) {
  const std::string worse = "worse_than_baseline = {by = \"3%\", min_effect = \"5%\"}";
  constexpr Unit kShare = Unit::kShare;
  EXPECT_EQ(StatusOf(worse, {0, 0, 0}, {0.3, 0.31, 0.32}, kShare), BudgetStatus::kBroken);
  EXPECT_EQ(StatusOf(worse, {0, 0, 0}, {0.03, 0.031, 0.032}, kShare), BudgetStatus::kKept);
  EXPECT_EQ(StatusOf(worse, {0, 0, 0}, {0, 0, 0}, kShare), BudgetStatus::kKept);
  EXPECT_EQ(StatusOf(worse, {0, 0}, {0.3, 0.31}, kShare), BudgetStatus::kCannotTell);
  // In some runs it is 0, in others not.
  EXPECT_EQ(StatusOf(worse, {0, 0, 0.2}, {0.1, 0, 0.3}, kShare), BudgetStatus::kCannotTell);
  const std::string less = "worse_than_baseline = {worse = \"less\"}";
  EXPECT_EQ(StatusOf(less, {0.8, 0.81, 0.79}, {0, 0, 0}, Unit::kNone), BudgetStatus::kBroken);
  const JudgedCheck judged =
      Judge({BudgetRuns({0, 0, 0}, kShare), BudgetRuns({0.3, 0.31, 0.32}, kShare), {}},
            BudgetOf(worse), {});
  EXPECT_EQ(judged.why, "b: 31 % after 0 % of the baseline");
  EXPECT_FALSE(judged.budgets.front().low.has_value());
}

TEST(JudgeTest, SavedValuesOfAnotherBudgetAreNotCompared) {
  const Budget budget = BudgetOf("worse_than_baseline = {}").budgets.front();
  Budget other = budget;
  other.where.push_back({"step", RowCondition::Is::kAtLeast, {"3"}});
  EXPECT_EQ(DefinitionOf(other), "p50 of steps.c where step >= 3");
  JudgedRuns runs{BudgetRuns({1e6, 1.01e6, 1.02e6}, Unit::kNanoseconds),
                  BudgetRuns({2e6, 2.1e6, 2.2e6}, Unit::kNanoseconds),
                  {}};
  const MetricKey key = {std::string(kBudgetMetric), "b"};
  runs.base[1].metrics[key].definition = DefinitionOf(other);
  JudgedCheck judged = Judge(runs, BudgetOf("worse_than_baseline = {}"), {});
  EXPECT_EQ(judged.status, BudgetStatus::kCannotTell);
  EXPECT_EQ(judged.why, "b: the saved value is of another budget");
  runs.base[1].metrics[key].definition = "";
  runs.base[1].metrics[key].unit = Unit::kBytes;
  judged = Judge(runs, BudgetOf("worse_than_baseline = {}"), {});
  EXPECT_EQ(judged.why, "b: the saved value is of another budget");
}

TEST(JudgeTest, EvidenceIsAShellCommand) {
  Runs runs = BudgetRuns({1e6}, Unit::kNanoseconds);
  runs.front().inputs = {"it's $(x).json", "b.json"};
  const auto evidence = [&](const std::string& text) {
    return Judge({{}, runs, {}}, ReadBudgetFile(text, "b").value(), {}).budgets.front().evidence;
  };
  EXPECT_EQ(evidence("[[budget]]\nname = \"b\"\nsql = \"select 'a'\"\nmax = 1"),
            R"(borescope query 'select '\''a'\''' 'it'\''s $(x).json' b.json)");
  EXPECT_EQ(
      evidence("[[budget]]\nname = \"b\"\ntable = \"steps\"\ncolumn = \"c\"\nby = \"gpu\"\n"
               "where = {step = [1, 2]}\nmax = \"1s\""),
      R"(borescope steps --by gpu 'it'\''s $(x).json' b.json  # p50 of steps.c by gpu where step = 1, 2)");
}

TEST(JudgeTest, NegativeValuesHaveNoRatio) {
  EXPECT_EQ(StatusOf("worse_than_baseline = {by = \"3%\"}", {-1, -1, -1}, {1, 1, 1}, Unit::kNone),
            BudgetStatus::kCannotTell);
}

TEST(JudgeTest, RunsOfOtherMachinesAreNotComparable) {
  RunValues run;
  run.name = "a";
  run.devices = "1 x A100";
  run.ranks = run.world_size = 1;
  run.step_flops = 1e12;
  RunValues other = run;
  EXPECT_EQ(WhyNotComparable({run}, {other}), "");
  other.devices = "1 x H100";
  EXPECT_EQ(WhyNotComparable({run}, {other}), "a ran on 1 x A100, a on 1 x H100");
  other = run;
  other.world_size = 0;
  EXPECT_EQ(WhyNotComparable({run}, {other}), "");
  other.ranks = 2;
  EXPECT_EQ(WhyNotComparable({run}, {other}), "a has 1 rank of a world of 1, a has 2 ranks");
  EXPECT_NE(WhyNotComparable({run}, {other}), "");
  other = run;
  other.step_flops = 1.0005e12;
  EXPECT_EQ(WhyNotComparable({run}, {other}), "");
  other.step_flops = 1.01e12;
  EXPECT_NE(WhyNotComparable({run}, {other}), "");
  other.step_flops.reset();
  EXPECT_EQ(WhyNotComparable({run}, {other}), "");
}

}  // namespace

}  // namespace borescope::internal
