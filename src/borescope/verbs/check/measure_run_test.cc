#include "borescope/verbs/check/measure_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "borescope/analysis/core/row.h"

namespace borescope::internal {

namespace {

struct StepRow {
  int64_t rank;
  int64_t step;
  int64_t begin_ns;
  int64_t length_ns;
};

Table StepsTable(std::initializer_list<StepRow> rows) {
  Table table{"steps", "", {}};
  for (const char* const name : {"rank", "step", "begin_ns", "span_ns", "length_ns"}) {
    AddInt(table, name, Unit::kNone, Role::kKey, "");
  }
  for (const StepRow& row : rows) {
    Row(table).Int(row.rank).Int(row.step).Int(row.begin_ns).Int(3).Int(row.length_ns);
  }
  return table;
}

double ValueAt(const RunValues& run, std::string_view kind, std::string_view name) {
  return run.metrics.at({std::string(kind), std::string(name)}).value;
}

TEST(StepMetricsTest, TheFirstStepIsLeftOutAndTheSlowestRankCounts) {
  const Table steps = StepsTable({{0, 5, 100, 900},
                                  {0, 6, 200, 10},
                                  {0, 7, 300, 20},
                                  {1, 5, 100, 800},
                                  {1, 6, 200, 30},
                                  {1, 7, 300, 15}});
  const RunSteps compared = StepsToCompare(steps);
  EXPECT_EQ(compared.compared, (std::set<int64_t>{6, 7}));
  RunValues run;
  AddStepTimes(steps, compared, run);
  SetValues(run);
  EXPECT_EQ(run.steps, 2);
  EXPECT_DOUBLE_EQ(ValueAt(run, kStepMetric, ""), 25);
  EXPECT_DOUBLE_EQ(ValueAt(run, kHostMetric, ""), 3);
}

// A median would not see steps that are slow now and then, and a mean sees every stall.
TEST(StepMetricsTest, TheLongestStepIsLeftOut) {
  RunValues run;
  MetricValue& step = run.metrics[{std::string(kStepMetric), ""}];
  step.steps = {10, 10, 900, 10, 10};
  SetValues(run);
  EXPECT_DOUBLE_EQ(step.value, 10);
  EXPECT_EQ(step.least, 10);
  EXPECT_EQ(step.most, 900);
  step.steps = {10, 20, 10, 20, 10};
  SetValues(run);
  EXPECT_DOUBLE_EQ(step.value, 12.5);
}

TEST(StepMetricsTest, WorkOfAStepIsCounted) {
  Table table{"steps", "", {}};
  for (const char* const name : {"step", "kernels", "copies"}) {
    AddInt(table, name, Unit::kNone, Role::kKey, "");
  }
  Row(table).Int(1).Int(99).Int(4);
  Row(table).Int(1).Int(1).Int(0);  // of another device
  Row(table).Int(2).Int(100).Int(4);
  Row(table).Missing().Int(7000).Int(7000);
  RunValues run;
  run.ranks = 2;
  AddCalls(table, {{1, 2}}, run);
  SetValues(run);
  EXPECT_DOUBLE_EQ(ValueAt(run, kCallsMetric, "kernels"), 50);
  EXPECT_DOUBLE_EQ(ValueAt(run, kCallsMetric, "copies"), 2);
}

TEST(StepMetricsTest, TheOnlyStepCounts) {
  EXPECT_EQ(StepsToCompare(StepsTable({{0, 5, 100, 900}})).compared, (std::set<int64_t>{5}));
  EXPECT_TRUE(StepsToCompare(StepsTable({})).compared.empty());
}

TEST(StepMetricsTest, AKernelThatAStepDoesNotHaveTakesNothingThere) {
  Table table{"kernels", "", {}};
  AddInt(table, "step", Unit::kNone, Role::kKey, "");
  AddString(table, "name", Role::kKey, "");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "");
  Row(table).Int(1).Text("a").Int(1000);
  Row(table).Int(2).Text("a").Int(10);
  Row(table).Int(3).Text("a").Int(20);
  Row(table).Int(3).Text("b").Int(30);
  Row(table).Missing().Text("a").Int(7000);
  RunValues run;
  run.ranks = 2;
  AddWorkTimes(table, kKernelMetric, "name", {{2, 3}}, run);
  SetValues(run);
  EXPECT_DOUBLE_EQ(ValueAt(run, kKernelMetric, "a"), 7.5);
  EXPECT_DOUBLE_EQ(ValueAt(run, kKernelMetric, "b"), 7.5);
  EXPECT_EQ(run.metrics.at({"kernel", "b"}).steps, (std::vector<double>{0, 15}));
}

MeasuredRun Window(int64_t process, int64_t first, std::vector<double> steps) {
  MeasuredRun run;
  run.values.name = "w" + std::to_string(first);
  run.values.ranks = 1;
  run.values.steps = static_cast<int64_t>(steps.size());
  run.window.process = process;
  run.has_steps = !steps.empty();
  run.first_step = first;
  run.last_step = first + run.values.steps - 1;
  run.values.metrics[{"step", ""}].steps = std::move(steps);
  SetValues(run.values);
  return run;
}

TEST(JoinWindowsTest, WindowsOfOneProcessAreOneRun) {
  const std::vector<MeasuredRun> joined =
      JoinWindows({Window(1, 10, {1, 2}), Window(2, 10, {50}), Window(1, 20, {3, 4, 5})}, {});
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].values.name, "w10, w20");
  EXPECT_EQ(joined[0].values.steps, 5);
  EXPECT_DOUBLE_EQ(joined[0].values.metrics.at({"step", ""}).value, 2.5);
}

// In containers every program may be process 1; their recordings have the same steps.
TEST(JoinWindowsTest, RunsWithTheSameStepsAreTwo) {
  EXPECT_EQ(JoinWindows({Window(1, 10, {1, 2}), Window(1, 11, {1, 2})}, {}).size(), 2U);
  MeasuredRun unknown = Window(1, 20, {1});
  unknown.window.process.reset();
  EXPECT_EQ(JoinWindows({Window(1, 10, {1, 2}), unknown}, {}).size(), 2U);
}

MeasuredRun TimedWindow(int64_t begin_ns, double budget) {
  MeasuredRun run = Window(1, 0, {});
  run.values.name = "t" + std::to_string(begin_ns);
  run.values.metrics.clear();
  run.values.metrics[{std::string(kBudgetMetric), "b"}] = {budget, Unit::kCount, 1, {}};
  run.window.begin_ns = begin_ns;
  run.window.end_ns = begin_ns + 1000;
  return run;
}

BudgetFile FileOf(RowReduce reduce) {
  BudgetFile file;
  file.budgets.emplace_back();
  file.budgets.front().name = "b";
  file.budgets.front().table = "steps";
  file.budgets.front().reduce = reduce;
  return file;
}

// Without steps, too, and whatever the order of the files.
TEST(JoinWindowsTest, BudgetsOfWindowsAreReducedOnce) {
  const std::pair<RowReduce, double> wanted[] = {{RowReduce::kMax, 9},
                                                 {RowReduce::kMin, 1},
                                                 {RowReduce::kSum, 2},
                                                 {RowReduce::kCount, 2},
                                                 {RowReduce::kP90, 2}};
  for (const auto& [reduce, value] : wanted) {
    std::vector<int> order = {0, 1, 2};
    do {
      const double values[] = {1, 9, 2};
      std::vector<MeasuredRun> windows;
      for (const int i : order) {
        windows.push_back(TimedWindow(2000 * (i + 1), values[i]));
      }
      const std::vector<MeasuredRun> joined = JoinWindows(std::move(windows), FileOf(reduce));
      ASSERT_EQ(joined.size(), 1U);
      EXPECT_EQ(joined[0].values.windows, 3);
      EXPECT_EQ(joined[0].values.name, "t2000, t4000, t6000");
      EXPECT_DOUBLE_EQ(joined[0].values.metrics.at({"budget", "b"}).value, value);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// A window in the middle makes the other two one process.
TEST(JoinWindowsTest, OverlapInTimeIsOneProcess) {
  constexpr int64_t kSecond = 1'000'000'000;
  std::vector<MeasuredRun> runs = {TimedWindow(0, 1), TimedWindow(3 * kSecond / 2, 2)};
  EXPECT_EQ(JoinWindows(runs, FileOf(RowReduce::kMax)).size(), 2U);
  runs.push_back(TimedWindow(kSecond * 3 / 4, 3));
  EXPECT_EQ(JoinWindows(runs, FileOf(RowReduce::kMax)).size(), 1U);
  // Of the same time, but of another process.
  runs[2].window.process = 2;
  EXPECT_EQ(JoinWindows(runs, FileOf(RowReduce::kMax)).size(), 3U);
  // Recorded later, with earlier steps: the program began again.
  MeasuredRun first = Window(1, 10, {1, 2});
  MeasuredRun anew = Window(1, 1, {1, 2});
  first.window.begin_ns = 0;
  anew.window.begin_ns = 100 * kSecond;
  first.window.end_ns = *first.window.begin_ns + 1;
  anew.window.end_ns = *anew.window.begin_ns + 1;
  EXPECT_EQ(JoinWindows({first, anew}, {}).size(), 2U);
}

}  // namespace

}  // namespace borescope::internal
