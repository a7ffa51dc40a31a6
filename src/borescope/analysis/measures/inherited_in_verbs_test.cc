// A program whose device is 44 pieces of work behind when the recording begins, in the middle of
// step 2: what verbs report for the work that was launched before is what is true of it.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "borescope/analysis/core/params.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_model.h"
#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr int64_t kLength = 30;  // of a step; two of each operator, the last six the optimizer's
constexpr int64_t kBehind = 44;
constexpr int64_t kBegin = 65;  // the first recorded launch
constexpr int64_t kEnd = 7 * kLength;
constexpr int64_t kWorkNs = 40;

std::string OpAt(int64_t place) {
  return std::string("aten::op_") + static_cast<char>('a' + place / 2);
}

// `repeats`: the work from before looks like the recorded work.
void Plant(TestTrace& trace, bool repeats) {
  for (int64_t i = kBegin; i < kEnd; ++i) {
    const int64_t place = i % kLength;
    const int64_t ns = 100 * i;
    if (place == 0) {
      trace.Annotation("ProfilerStep#" + std::to_string(i / kLength), {ns, 100 * kLength});
    }
    if (place == 24) {
      trace.Annotation("Optimizer.step#SGD.step", {ns, 600});
    }
    trace.Op(OpAt(place), {ns + 5, 80});
    trace.Runtime("cudaLaunchKernel", {ns + 10, 10}, 500 + i);
  }
  for (int64_t i = kBegin - kBehind; i < kEnd; ++i) {
    const std::string name = repeats || i >= kBegin ? std::to_string(i % kLength % 13)
                                                    : "_of_before" + std::to_string(i);
    trace.Kernel("kernel" + name, {100 * (i + kBehind) + 50, kWorkNs}, {.correlation = 500 + i});
  }
}

// How many pieces of work from `first` to the one before `end` the place in the step chooses.
template <class Chooses>
int64_t Count(int64_t first, int64_t end, const Chooses& chooses) {
  int64_t count = 0;
  for (int64_t i = first; i < end; ++i) {
    count += chooses(i % kLength) ? 1 : 0;
  }
  return count;
}

bool IsOfA(int64_t place) { return place < 2; }
bool IsOfOptimizer(int64_t place) { return place >= 24; }

int64_t AlignedOf(const Table& table, std::string_view column, std::string_view value) {
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    sum += Texts(table, column)[row] == value ? Ints(table, "aligned_ns")[row] : 0;
  }
  return sum;
}

int64_t WorksUnder(const RankView& view, const std::string& target) {
  const ReplayModel model = MakeReplayModel(view, "");
  const Params params;
  const Result<std::vector<Scenario>> plan =
      ReadPlan(R"({"changes":[{"scale":")" + target + R"(=0.5"}]})");
  EXPECT_TRUE(plan.ok()) << plan.error().Sentence();
  const Result<ScenarioRun> run = ScenarioRunner(view, model, params).Run(plan->front());
  EXPECT_TRUE(run.ok()) << run.error().Sentence();
  return run->works;
}

TEST(InheritedInVerbsTest, StepsBeforeTheRecording) {
  TestTrace trace;
  Plant(trace, true);
  const Tables tables = Analyse("steps", {&trace.View()});
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[1].name, "inherited_steps");
  EXPECT_EQ(
      Csv(tables[1]),
      "rank,gpu,step,length_ns,busy_ns,kernels,copies,device_begin_ns,device_end_ns,complete\n"
      "0,0,0,-,360,9,0,6550,7390,no\n"
      "0,0,1,3000,1200,30,0,7450,10390,yes\n"
      "0,0,2,-,200,5,0,10450,10890,no\n");
}

TEST(InheritedInVerbsTest, StepsSayNothingOfWorkThatIsLikeNone) {
  TestTrace trace;
  Plant(trace, false);
  EXPECT_EQ(Analyse("steps", {&trace.View()}).size(), 1U);
}

TEST(InheritedInVerbsTest, SelectedStepsAreRecordedOnes) {
  TestTrace trace;
  Plant(trace, true);
  Params params;
  params.selection.steps.ranges = {{3, 3}};
  EXPECT_EQ(Analyse("steps", {&trace.View()}, params).size(), 1U);
}

TEST(InheritedInVerbsTest, TopByOperatorAndPhase) {
  TestTrace trace;
  Plant(trace, true);
  Params params;
  params.by = {"op", "phase"};
  const Table top = Analyse("top", {&trace.View()}, params)[0];
  EXPECT_EQ(AlignedOf(top, "op", "aten::op_a"), kWorkNs * Count(kBegin - kBehind, kBegin, IsOfA));
  EXPECT_EQ(AlignedOf(top, "phase", "optimizer"),
            kWorkNs * Count(kBegin - kBehind, kBegin, IsOfOptimizer));
  EXPECT_EQ(AlignedOf(top, "phase", "forward") + AlignedOf(top, "phase", "optimizer"),
            kWorkNs * kBehind);
  EXPECT_EQ(Analyse("top", {&trace.View()})[0].Find("aligned_ns"), nullptr);
}

TEST(InheritedInVerbsTest, ScenariosOfOperatorsAndPhases) {
  TestTrace trace;
  Plant(trace, true);
  EXPECT_EQ(SharedAlignedWork(trace.View())->confidence, AlignmentConfidence::kHigh);
  EXPECT_EQ(WorksUnder(trace.View(), "op:aten::op_a"), Count(kBegin - kBehind, kEnd, IsOfA));
  EXPECT_EQ(WorksUnder(trace.View(), "phase:optimizer"),
            Count(kBegin - kBehind, kEnd, IsOfOptimizer));
}

TEST(InheritedInVerbsTest, ScenariosLeaveWorkThatIsLikeNone) {
  TestTrace trace;
  Plant(trace, false);
  EXPECT_EQ(WorksUnder(trace.View(), "op:aten::op_a"), Count(kBegin, kEnd, IsOfA));
  EXPECT_EQ(WorksUnder(trace.View(), "phase:optimizer"), Count(kBegin, kEnd, IsOfOptimizer));
}

TEST(InheritedInVerbsTest, InfoSaysHowMuch) {
  TestTrace trace;
  Plant(trace, true);
  const Table traces = Analyse("info", {&trace.View()})[0];
  EXPECT_EQ(Ints(traces, "inherited_works")[0], kBehind);
  EXPECT_EQ(Ints(traces, "inherited_ns")[0], kBehind * kWorkNs);
  EXPECT_DOUBLE_EQ(std::get<FloatValues>(traces.Find("inherited_share")->values)[0],
                   static_cast<double>(kBehind) / static_cast<double>(kEnd - kBegin + kBehind));
}

}  // namespace
}  // namespace borescope::internal
