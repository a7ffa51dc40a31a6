#include "borescope/index/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "borescope/index/call_tree.h"
#include "borescope/index/correlation.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::FindDevice;
using testkit::TraceMaker;

struct Indexed {
  explicit Indexed(TraceMaker& maker) : trace(maker.Finish()) {
    Diagnostics diagnostics;
    const CallTree tree = BuildCallTree(trace, 1, diagnostics);
    steps = BuildSteps(trace, BuildCorrelation(trace, tree, diagnostics));
  }

  // The number of the step of a device event, -1 outside all.
  int64_t NumberOf(std::string_view device) const {
    const uint32_t step = steps.device_step[FindDevice(trace, device).value];
    return step == kNoStep ? -1 : steps.steps[step].number;
  }

  Trace trace;
  Steps steps;
};

TEST(StepNumberTest, OnlyTheWholeNameCounts) {
  EXPECT_EQ(StepNumber("ProfilerStep#0"), 0);
  EXPECT_EQ(StepNumber("ProfilerStep#1234"), 1234);
  EXPECT_EQ(StepNumber("ProfilerStep#0007"), 7);
  for (const char* name :
       {"ProfilerStep#", "ProfilerStep", "ProfilerStep#12a", "ProfilerStep# 1", "ProfilerStep#-1",
        "profilerstep#1", " ProfilerStep#1", "", "ProfilerStep#11111111111111111111111111111111"}) {
    EXPECT_EQ(StepNumber(name), std::nullopt) << name;
  }
}

TEST(StepNumberTest, HugeNumbersDoNotOverflow) {
  EXPECT_EQ(StepNumber("ProfilerStep#9999999999999999999"), int64_t{1} << 53);
}

TEST(StepsTest, WindowsAreHalfOpen) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#4", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#5", 1, {100, 50});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#6", 1, {200, 10});
  const Indexed indexed(maker);
  const Steps& steps = indexed.steps;
  ASSERT_EQ(steps.steps.size(), 3U);
  EXPECT_EQ(steps.At(-1), kNoStep);
  EXPECT_EQ(steps.At(0), 0U);
  EXPECT_EQ(steps.At(99), 0U);
  EXPECT_EQ(steps.At(100), 1U);
  EXPECT_EQ(steps.At(149), 1U);
  EXPECT_EQ(steps.At(150), kNoStep);
  EXPECT_EQ(steps.At(209), 2U);
  EXPECT_EQ(steps.At(210), kNoStep);
  EXPECT_EQ(indexed.trace.Name(steps.steps[1].annotation), "ProfilerStep#5");
}

// Recordings of 2022 have steps as operators, some files have both.
TEST(StepsTest, OperatorsMayBeStepsAndTwinsCountOnce) {
  TraceMaker maker;
  maker.Op("ProfilerStep#1", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {0, 100});
  maker.Op("ProfilerStep#2", 1, {100, 100});
  maker.Host(HostKind::kPython, "ProfilerStep#3", 1, {200, 100});
  maker.Call("ProfilerStep#4", 1, {300, 100}, 1);
  const Indexed indexed(maker);
  ASSERT_EQ(indexed.steps.steps.size(), 2U);
  EXPECT_EQ(indexed.steps.steps[1].number, 2);
}

TEST(StepsTest, StepsComeInOrderOfTimeWhateverTheThread) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#8", 1, {100, 10});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#7", 2, {0, 10});
  const Indexed indexed(maker);
  ASSERT_EQ(indexed.steps.steps.size(), 2U);
  EXPECT_EQ(indexed.steps.steps[0].number, 7);
  EXPECT_EQ(indexed.steps.steps[1].number, 8);
}

// Work belongs to the step that launched it, even if it runs much later.
TEST(StepsTest, DeviceWorkBelongsToTheStepOfItsLaunch) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#2", 1, {100, 100});
  maker.Call("cudaLaunchKernel", 1, {90, 5}, 1);
  maker.Call("cudaLaunchKernel", 1, {250, 5}, 2);
  maker.Kernel("late", 7, {150, 10}, {.correlation = 1});
  maker.Kernel("launched outside", 7, {160, 10}, {.correlation = 2});
  maker.Kernel("without launch", 7, {170, 10});
  maker.Kernel("after all", 7, {300, 10});
  const Indexed indexed(maker);
  EXPECT_EQ(indexed.NumberOf("late"), 1);
  EXPECT_EQ(indexed.NumberOf("launched outside"), -1);
  EXPECT_EQ(indexed.NumberOf("without launch"), 2);
  EXPECT_EQ(indexed.NumberOf("after all"), -1);
}

// A window still contains a time after a shorter window inside it has ended.
TEST(StepsTest, AWindowAroundAnotherOne) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 2, {10, 20});
  const Indexed indexed(maker);
  ASSERT_EQ(indexed.steps.steps.size(), 2U);
  EXPECT_EQ(indexed.steps.At(5), 0U);
  EXPECT_EQ(indexed.steps.At(20), 1U);
  EXPECT_EQ(indexed.steps.At(50), 0U);
  EXPECT_EQ(indexed.steps.At(100), kNoStep);
}

// The definition of At: of the windows that contain the time, the one that begins last.
uint32_t StepAt(const Steps& steps, int64_t ts_ns) {
  uint32_t found = kNoStep;
  for (uint32_t i = 0; i < steps.steps.size(); ++i) {
    if (steps.steps[i].begin_ns <= ts_ns && ts_ns < steps.steps[i].end_ns) {
      found = i;
    }
  }
  return found;
}

TEST(StepsTest, AnyOverlapsAgainstTheScanOfAllWindows) {
  std::mt19937 random(20240611);
  const auto pick = [&random](int64_t below) { return static_cast<int64_t>(random()) % below; };
  for (int round = 0; round < 500; ++round) {
    TraceMaker maker;
    const int64_t count = 1 + pick(30);
    const int64_t times = 1 + pick(80);
    for (int64_t i = 0; i < count; ++i) {
      maker.Host(HostKind::kAnnotation, "ProfilerStep#" + std::to_string(pick(20)), 1 + pick(3),
                 {pick(times), pick(1 + pick(times))});
    }
    const Indexed indexed(maker);
    EXPECT_LE(indexed.steps.pieces.size(), 2 * indexed.steps.steps.size());
    for (int64_t ts_ns = -2; ts_ns < 2 * times + 2; ++ts_ns) {
      ASSERT_EQ(indexed.steps.At(ts_ns), StepAt(indexed.steps, ts_ns))
          << "round " << round << " at " << ts_ns;
    }
  }
}

// Walking back over the windows before each time would take minutes here and in the next case.
TEST(StepsTest, ALongWindowAroundManyShortOnes) {
  constexpr int64_t kRows = 200'000;
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#7", 1, {0, 100 * kRows});
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Host(HostKind::kAnnotation, "ProfilerStep#8", 2, {10 + 10 * i, 5});
    maker.Kernel("k", 7, {20 * kRows + i, 1});
  }
  const Indexed indexed(maker);
  const std::vector<uint32_t>& found = indexed.steps.device_step;
  EXPECT_EQ(std::count(found.begin(), found.end(), 0U), kRows);
}

TEST(StepsTest, ManyWindowsInsideEachOther) {
  constexpr int64_t kRows = 100'000;
  TraceMaker maker;
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Host(HostKind::kAnnotation, "ProfilerStep#8", 1, {i, 10 * kRows - 2 * i});
    maker.Kernel("k", 7, {10 * kRows - 2, 1});
  }
  const Indexed indexed(maker);
  const std::vector<uint32_t>& found = indexed.steps.device_step;
  EXPECT_EQ(std::count(found.begin(), found.end(), 1U), kRows);
}

// A host annotation of a process; rows of the maker are all of one.
void Annotate(TraceMaker& maker, std::string_view name, int64_t pid, testkit::Span span) {
  maker.Host(HostKind::kAnnotation, name, 1, span);
  maker.part().data.host.track.back() = maker.part().Track(TrackKind::kHost, pid, 1);
}

Diagnostics::Entry SharedIn(TraceMaker& maker) {
  const Indexed indexed(maker);
  Diagnostics diagnostics;
  CountSharedSteps(indexed.trace, indexed.steps, diagnostics);
  return diagnostics.Get(Diag::kSharedSteps);
}

TEST(StepsTest, ProcessesThatShareWindowsAreCounted) {
  TraceMaker maker;
  Annotate(maker, "ProfilerStep#1", 7, {0, 100});
  Annotate(maker, "ProfilerStep#1", 5, {10, 100});
  Annotate(maker, "ProfilerStep#2", 5, {110, 100});
  Annotate(maker, "forward", 3, {0, 10});
  const Diagnostics::Entry two = SharedIn(maker);
  EXPECT_EQ(two.count, 2U);
  EXPECT_EQ(two.first, "processes 5 and 7");

  TraceMaker more;
  for (const int64_t pid : {9, 8, 7, 6}) {
    Annotate(more, "ProfilerStep#1", pid, {pid, 100});
  }
  EXPECT_EQ(SharedIn(more).first, "processes 6 and 7, and 2 more");
}

TEST(StepsTest, ThreadsOfOneProcessShareNothing) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 2, {10, 100});
  EXPECT_EQ(SharedIn(maker).count, 0U);
}

TEST(StepsTest, WithoutStepsNothingIsKept) {
  TraceMaker maker;
  maker.Kernel("k", 7, {0, 1});
  const Indexed indexed(maker);
  EXPECT_TRUE(indexed.steps.steps.empty());
  EXPECT_TRUE(indexed.steps.device_step.empty());
  EXPECT_EQ(indexed.steps.At(0), kNoStep);
}

}  // namespace
}  // namespace borescope::internal
