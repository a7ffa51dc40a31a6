#include "borescope/analysis/measures/align_inherited.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// A program that repeats itself: layers of a few kinds of work that recur inside of an iteration.
// The operator of a piece of work is its place in the iteration, so that equal looks at other
// places have other operators.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    const size_t layers = 2 + Below(6);
    std::vector<uint32_t> layer(10 + Below(30));
    for (uint32_t& token : layer) {
      token = static_cast<uint32_t>(Below(12));
    }
    const auto add = [&](uint32_t token, size_t op) {
      iteration_.push_back(token);
      operators_.push_back(static_cast<uint32_t>(op));
    };
    for (size_t i = 0; i < layers; ++i) {
      for (size_t place = 0; place < layer.size(); ++place) {
        add(layer[place], place);
      }
      add(static_cast<uint32_t>(20 + i % 3), 100);
    }
    for (size_t i = 0; i < 15; ++i) {
      add(static_cast<uint32_t>(30 + Below(20)), 200 + i);
    }
  }

  size_t Below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }
  size_t length() const { return iteration_.size(); }

  // The work from place `begin` on, over iterations, and its operators.
  void Run(size_t begin, size_t count, std::vector<uint32_t>& tokens,
           std::vector<uint32_t>& kinds) const {
    for (size_t i = begin; i < begin + count; ++i) {
      tokens.push_back(iteration_[i % length()]);
      kinds.push_back(operators_[i % length()]);
    }
  }

 private:
  std::mt19937 random_;
  std::vector<uint32_t> iteration_;
  std::vector<uint32_t> operators_;
};

struct Score {
  size_t hidden = 0, assigned = 0, right = 0;

  void Add(const Alignment& found, const std::vector<uint32_t>& truth,
           const std::vector<uint32_t>& kinds) {
    hidden += truth.size();
    assigned += found.assigned;
    for (size_t i = 0; i < truth.size(); ++i) {
      right += found.place[i] != kNotAligned && kinds[found.place[i]] == truth[i] ? 1 : 0;
    }
  }
  double precision() const { return static_cast<double>(right) / static_cast<double>(assigned); }
  double recall() const { return static_cast<double>(right) / static_cast<double>(hidden); }
};

// Hides the launches of the first works of a program that runs for `iterations`, from anywhere.
// Every `lost`-th inherited item is missing; 0: none.
Score Hide(double iterations, size_t lost) {
  Score score;
  for (unsigned seed = 0; seed < 50; ++seed) {
    Program program(seed);
    const size_t hidden = 1 + program.Below(2 * program.length());
    const size_t begin = program.Below(program.length());
    std::vector<uint32_t> inherited, truth, launched, kinds;
    program.Run(begin, hidden, inherited, truth);
    for (size_t i = inherited.size(); lost != 0 && i-- > 0;) {
      if (program.Below(lost) == 0 && inherited.size() > 1) {
        inherited.erase(inherited.begin() + static_cast<ptrdiff_t>(i));
        truth.erase(truth.begin() + static_cast<ptrdiff_t>(i));
      }
    }
    program.Run(begin + hidden,
                static_cast<size_t>(iterations * static_cast<double>(program.length())), launched,
                kinds);
    score.Add(Align({inherited, launched, kinds}), truth, kinds);
  }
  return score;
}

TEST(AlignInheritedTest, FindsTheOperatorsOfAnIterationThatRepeats) {
  const Score score = Hide(3, 0);
  EXPECT_EQ(score.precision(), 1.0);
  EXPECT_GE(score.recall(), 0.98);
}

TEST(AlignInheritedTest, OneIterationIsEnough) {
  const Score score = Hide(1, 0);
  EXPECT_GE(score.precision(), 0.999);
  EXPECT_GE(score.recall(), 0.9);
}

TEST(AlignInheritedTest, IsRarelyWrongWhereItemsAreMissing) {
  const Score score = Hide(3, 20);
  EXPECT_GE(score.precision(), 0.99);
  EXPECT_GE(score.recall(), 0.6);
}

TEST(AlignInheritedTest, SaysNothingOfWorkThatNeverOccursAgain) {
  const std::vector<uint32_t> inherited = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<uint32_t> launched = {11, 12, 13, 14, 15, 16, 17, 18, 19};
  const Alignment found = Align({inherited, launched, launched});
  EXPECT_EQ(found.assigned, 0U);
  EXPECT_EQ(found.place, std::vector<uint32_t>(9, kNotAligned));
  EXPECT_EQ(Align({inherited, {}, {}}).assigned, 0U);
  EXPECT_TRUE(Align({{}, launched, launched}).place.empty());
}

TEST(AlignInheritedTest, OfAHandfulOnlyAllOfItCounts) {
  const std::vector<uint32_t> launched = {1, 2, 3, 4, 1, 2, 3, 4};
  EXPECT_EQ(Align({std::vector<uint32_t>{3, 4}, launched, launched}).assigned, 2U);
  EXPECT_EQ(Align({std::vector<uint32_t>{9, 4}, launched, launched}).assigned, 0U);
}

TEST(AlignInheritedTest, ManyRepeatsOfOneKernelCostNoSquare) {
  const std::vector<uint32_t> same(200'000, 7);
  const Alignment found = Align({std::span(same).first(100'000), same, same});
  EXPECT_EQ(found.assigned, 100'000U);
}

// Two operators with equal kernels in each step, recorded from the middle of a step on.
TEST(AlignInheritedTest, WorkOfARecording) {
  TestTrace trace;
  int64_t number = 100;
  int64_t device_ns = 0;
  const auto work = [&](std::string_view op, std::string_view kernel, int64_t host_ns) {
    ++number;
    if (host_ns >= 0) {
      trace.Op(op, {host_ns, 8}).Runtime("cudaLaunchKernel", {host_ns + 2, 4}, number);
    }
    trace.Kernel(kernel, {device_ns, 50}, {.correlation = number});
    device_ns += 50;
  };
  constexpr std::string_view kOps[] = {"aten::mm",  "aten::add", "aten::mul",  "aten::mm",
                                       "aten::t",   "aten::sum", "aten::relu", "aten::copy_",
                                       "aten::neg", "aten::add"};
  for (int64_t i = 0; i < 60; ++i) {
    const size_t op = static_cast<size_t>(i) % std::size(kOps);
    work(kOps[op], "kernel" + std::to_string(op), i < 14 ? -1 : 20 * (i - 13));
  }
  const RankView& view = trace.View();
  const auto found = SharedAlignedWork(view);
  EXPECT_EQ(found->works, 14U);
  EXPECT_EQ(found->assigned, 14U);
  EXPECT_EQ(found->assigned_ns, found->device_ns);
  EXPECT_EQ(found->found.period % std::size(kOps), 0U);
  EXPECT_EQ(found->self_precision, 1.0);
  EXPECT_TRUE(found->knows_place);
  EXPECT_EQ(found->confidence, AlignmentConfidence::kHigh);
  for (uint32_t row = 0; row < 14; ++row) {
    ASSERT_TRUE(found->like[row].valid());
    EXPECT_EQ(view.trace.Name(found->like[row]), view.trace.Name(DeviceId{row}));
  }
}

// Two of three steps of 30 works; the device is 44 behind. One recorded operator had begun before.
TEST(AlignInheritedTest, StepsAndWhatBeganBeforeTheRecording) {
  TestTrace trace;
  constexpr int64_t kLength = 30;
  constexpr int64_t kBegin = 65;  // the first recorded launch, in step 2
  constexpr int64_t kEnd = 7 * kLength;
  for (int64_t i = kBegin; i < kEnd; ++i) {
    const int64_t ns = 100 * i;
    if (i % kLength == 0) {
      trace.Annotation("ProfilerStep#" + std::to_string(i / kLength), {ns, 100 * kLength});
    }
    if (i > kBegin) {
      trace.Op("aten::op" + std::to_string(i % kLength / 2), {ns + 5, 80});
    }
    trace.Runtime("cudaLaunchKernel", {ns + 10, 10}, 500 + i);
  }
  for (int64_t i = kBegin - 44; i < kEnd; ++i) {
    trace.Kernel("kernel" + std::to_string(i % kLength % 13), {100 * (i + 44) + 50, 40},
                 {.correlation = 500 + i});
  }
  const RankView& view = trace.View();
  const auto found = SharedAlignedWork(view);
  EXPECT_EQ(found->works, 44U);
  EXPECT_EQ(found->assigned, 44U);
  EXPECT_TRUE(found->knows_place);
  for (uint32_t row = 0; row < 44; ++row) {
    const auto place = static_cast<int64_t>(kBegin - 44 + row);
    EXPECT_EQ(found->step[row], place / kLength) << row;
    const HostId op = view.index.correlation.op_of[found->LikeOf(DeviceId{row}).value];
    ASSERT_TRUE(op.valid()) << row;  // also of what is like the first launch, which has none
    EXPECT_EQ(view.trace.Name(op), "aten::op" + std::to_string(place % kLength / 2));
  }
}

}  // namespace
}  // namespace borescope::internal
