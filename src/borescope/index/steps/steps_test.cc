#include "borescope/index/steps/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "borescope/index/launches/correlation.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::FindDevice;
using testkit::TraceMaker;

struct Indexed {
  explicit Indexed(TraceMaker& maker) : trace(maker.Finish()) {
    Diagnostics diagnostics;
    correlation = BuildCorrelation(trace, OperatorRule(trace), diagnostics);
    steps = BuildSteps(trace, correlation);
  }

  // The step of the thread of the first step at a time.
  uint32_t At(int64_t ts_ns) const {
    return steps.At(trace.host().track[steps.steps.front().annotation.value], ts_ns);
  }

  // The number of the step of a device event, -1 outside all.
  int64_t NumberOf(std::string_view device) const {
    const uint32_t step = steps.device_step[FindDevice(trace, device).value];
    return step == kNoStep ? -1 : steps.steps[step].number;
  }

  Trace trace;
  Correlation correlation;
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

TEST(StepsTest, ANumberThatAThreadMarksAgainIsAnotherStep) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 2, {150, 50});   // of another thread
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {180, 100});  // inside of that
  maker.Host(HostKind::kAnnotation, "ProfilerStep#2", 1, {300, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {500, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 2, {700, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 2, {900, 100});
  const Indexed indexed(maker);
  EXPECT_EQ(OccurrencesOf(indexed.trace, indexed.steps.steps),
            (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 2}));
}

TEST(StepsTest, WindowsAreHalfOpen) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#4", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#5", 1, {100, 50});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#6", 1, {200, 10});
  const Indexed indexed(maker);
  const Steps& steps = indexed.steps;
  ASSERT_EQ(steps.steps.size(), 3U);
  EXPECT_EQ(indexed.At(-1), kNoStep);
  EXPECT_EQ(indexed.At(0), 0U);
  EXPECT_EQ(indexed.At(99), 0U);
  EXPECT_EQ(indexed.At(100), 1U);
  EXPECT_EQ(indexed.At(149), 1U);
  EXPECT_EQ(indexed.At(150), kNoStep);
  EXPECT_EQ(indexed.At(209), 2U);
  EXPECT_EQ(indexed.At(210), kNoStep);
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
  EXPECT_EQ(indexed.NumberOf("without launch"), -1);
  EXPECT_EQ(indexed.NumberOf("after all"), -1);
}

// A window still contains a time after a shorter window inside it has ended.
TEST(StepsTest, AWindowAroundAnotherOne) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "ProfilerStep#1", 2, {10, 20});
  const Indexed indexed(maker);
  ASSERT_EQ(indexed.steps.steps.size(), 2U);
  EXPECT_EQ(indexed.At(5), 0U);
  EXPECT_EQ(indexed.At(20), 1U);
  EXPECT_EQ(indexed.At(50), 0U);
  EXPECT_EQ(indexed.At(100), kNoStep);
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
    EXPECT_LE(indexed.steps.pieces[0].size(), 2 * indexed.steps.steps.size());
    for (int64_t ts_ns = -2; ts_ns < 2 * times + 2; ++ts_ns) {
      ASSERT_EQ(indexed.At(ts_ns), StepAt(indexed.steps, ts_ns))
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
    maker.Call("cudaLaunchKernel", 3, {20 * kRows + i, 1}, i + 1);
    maker.Kernel("k", 7, {200 * kRows + i, 1}, {.correlation = i + 1});
  }
  const Indexed indexed(maker);
  const ColumnData<uint32_t>& found = indexed.steps.device_step;
  EXPECT_EQ(std::count(found.begin(), found.end(), 0U), kRows);
}

TEST(StepsTest, ManyWindowsInsideEachOther) {
  constexpr int64_t kRows = 100'000;
  TraceMaker maker;
  for (int64_t i = 0; i < kRows; ++i) {
    maker.Host(HostKind::kAnnotation, "ProfilerStep#8", 1, {i, 10 * kRows - 2 * i});
    maker.Call("cudaLaunchKernel", 3, {10 * kRows - 2, 0}, i + 1);
    maker.Kernel("k", 7, {10 * kRows, 1}, {.correlation = i + 1});
  }
  const Indexed indexed(maker);
  const ColumnData<uint32_t>& found = indexed.steps.device_step;
  EXPECT_EQ(std::count(found.begin(), found.end(), 1U), kRows);
}

// Makes the last host row one of a process; rows of the maker are all of one.
void MoveTo(TraceMaker& maker, int64_t pid) {
  maker.part().data.host.track.back() = maker.part().Track(TrackKind::kHost, pid, 1);
}

void Annotate(TraceMaker& maker, std::string_view name, int64_t pid, testkit::Span span) {
  maker.Host(HostKind::kAnnotation, name, 1, span);
  MoveTo(maker, pid);
}

void Launch(TraceMaker& maker, int64_t pid, int64_t gpu, std::string_view kernel, int64_t ts_ns) {
  static int64_t correlation = 0;
  maker.Call("cudaLaunchKernel", 1, {ts_ns, 1}, ++correlation);
  MoveTo(maker, pid);
  maker.Device(DeviceKind::kKernel, kernel, gpu, 7, {ts_ns + 1000, 5},
               {.correlation = correlation});
}

TEST(StepsTest, ProcessesHaveStepsOfTheirOwn) {
  TraceMaker maker;
  Annotate(maker, "ProfilerStep#1", 5, {0, 100});
  Annotate(maker, "ProfilerStep#9", 7, {10, 20});
  Annotate(maker, "forward", 3, {0, 100});
  Launch(maker, 5, 0, "of the first", 15);
  Launch(maker, 7, 1, "of the second", 16);
  Launch(maker, 7, 1, "after the second", 50);
  Launch(maker, 3, 2, "of none", 17);
  const Indexed indexed(maker);
  EXPECT_EQ(indexed.steps.processes, (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(indexed.NumberOf("of the first"), 1);
  EXPECT_EQ(indexed.NumberOf("of the second"), 9);
  EXPECT_EQ(indexed.NumberOf("after the second"), -1);
  EXPECT_EQ(indexed.NumberOf("of none"), -1);
  const auto process_of = [&](std::string_view kernel) {
    const DeviceId row = FindDevice(indexed.trace, kernel);
    return indexed.steps.process_of[indexed.trace.device().track[row.value].value];
  };
  EXPECT_EQ(process_of("of the first"), 0U);
  EXPECT_EQ(process_of("of the second"), 1U);
  EXPECT_EQ(process_of("of none"), kNoProcess);
}

TEST(StepsTest, ADeviceOfSeveralProcessesIsCounted) {
  for (const bool is_shared : {false, true}) {
    TraceMaker maker;
    Annotate(maker, "ProfilerStep#1", 5, {0, 100});
    Annotate(maker, "ProfilerStep#1", 7, {10, 100});
    Launch(maker, 5, 0, "a", 20);
    Launch(maker, 7, is_shared ? 0 : 1, "b", 30);
    const Indexed indexed(maker);
    Diagnostics diagnostics;
    CountSharedSteps(indexed.trace, indexed.steps, diagnostics);
    const Diagnostics::Entry found = diagnostics.Get(Diag::kSharedSteps);
    EXPECT_EQ(found.count, is_shared ? 1U : 0U);
    EXPECT_EQ(found.first, is_shared ? "device 0" : "");
    EXPECT_EQ(indexed.NumberOf("a"), 1);
    EXPECT_EQ(indexed.NumberOf("b"), 1);
  }
}

TEST(StepsTest, ServersMarkStepsIfNothingElseDoes) {
  for (const bool trains : {false, true}) {
    TraceMaker maker;
    maker.Host(HostKind::kAnnotation, "execute_context_1(8)_generation_0(0)", 1, {0, 100});
    maker.Host(HostKind::kAnnotation, "execute_model", 1, {10, 20});  // inside of the first
    maker.Host(HostKind::kAnnotation, "step[DECODE bs=8]", 1, {100, 50});
    maker.Host(HostKind::kAnnotation, "step[DECODE bs=8]", 1, {200, 50});
    maker.Host(HostKind::kAnnotation, "stepwise", 1, {300, 50});
    maker.Op("execute_op", 1, {400, 50});
    if (trains) {
      maker.Host(HostKind::kAnnotation, "ProfilerStep#7", 1, {500, 50});
    }
    const Indexed indexed(maker);
    std::vector<int64_t> numbers;
    for (const Step& step : indexed.steps.steps) {
      numbers.push_back(step.number);
    }
    EXPECT_EQ(numbers, trains ? std::vector<int64_t>{7} : (std::vector<int64_t>{0, 1, 2}));
    EXPECT_EQ(indexed.At(15), trains ? kNoStep : 0U);
  }
}

TEST(StepsTest, APatternReplacesWhatProfilersMark) {
  TraceMaker maker;
  maker.Host(HostKind::kAnnotation, "ProfilerStep#7", 1, {0, 100});
  maker.Host(HostKind::kAnnotation, "batch 12", 1, {10, 20});
  maker.Host(HostKind::kAnnotation, "batch 13", 1, {40, 20});
  const Indexed indexed(maker);
  const auto numbers_of = [&](std::string_view pattern) {
    const Result<Steps> found = MatchSteps(indexed.trace, indexed.correlation, pattern);
    std::vector<int64_t> numbers;
    for (const Step& step : found.value().steps) {
      numbers.push_back(step.number);
    }
    return numbers;
  };
  EXPECT_EQ(numbers_of("^batch [0-9]+$"), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(numbers_of("Profiler"), (std::vector<int64_t>{7}));
  EXPECT_EQ(numbers_of(".*"), (std::vector<int64_t>{7}));  // the others are inside
  const Result<Steps> none = MatchSteps(indexed.trace, indexed.correlation, "epoch");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kMissingData);
  EXPECT_EQ(MatchSteps(indexed.trace, indexed.correlation, "(").error().code,
            ErrorCode::kInvalidArgument);
}

TEST(StepsTest, WithoutStepsNothingIsKept) {
  TraceMaker maker;
  maker.Kernel("k", 7, {0, 1});
  const Indexed indexed(maker);
  EXPECT_TRUE(indexed.steps.steps.empty());
  EXPECT_TRUE(indexed.steps.device_step.empty());
  EXPECT_EQ(indexed.steps.At(TrackId{0}, 0), kNoStep);
}

}  // namespace
}  // namespace borescope::internal
