#include "borescope/index/launches/contested_launches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::NameOrNone;
using testkit::TraceMaker;

constexpr int kSeeds = 50;

// A trace with its links.
struct Linked {
  explicit Linked(TraceMaker& maker) : trace(maker.Finish()) {
    links = BuildCorrelation(trace, OperatorRule(trace), diagnostics);
  }
  // "operator of kernel", by kernel.
  std::string_view OpOf(std::string_view kernel) const {
    return NameOrNone(trace, links.op_of[testkit::FindDevice(trace, kernel).value]);
  }
  uint64_t ambiguous() const { return diagnostics.count(Diag::kAmbiguousLaunch); }

  Trace trace;
  Diagnostics diagnostics;
  Correlation links;
};

// Work of an operator: its call, as recorded, and the kernel.
struct Launch {
  std::string op;
  std::string kernel;
  int64_t thread = 1;
  int64_t stream = 7;
  int64_t call_ns = 0;
  int64_t kernel_ns = 0;
  int64_t call_number = 0;
  int64_t kernel_number = 0;
};

void Write(const std::vector<Launch>& launches, bool with_names, TraceMaker& maker) {
  for (const Launch& launch : launches) {
    maker.Op(launch.op, launch.thread, {launch.call_ns - 2, 10});
    maker.Call("hipLaunchKernel", launch.thread, {launch.call_ns, 5}, launch.call_number);
    if (with_names) {
      maker.part().data.runtime_calls.kernel.back() = maker.part().Intern(launch.kernel);
    }
    if (!launch.kernel.empty()) {
      maker.Kernel(launch.kernel, launch.stream, {launch.kernel_ns, 40},
                   {.correlation = launch.kernel_number});
    }
  }
}

// Threads that launch at the same time, each on a stream of its own. Some launches get the number
// of one of another thread: on the kernel alone, or on both.
class Program {
 public:
  Program(uint64_t seed, int64_t threads) : random_(seed), threads_(threads) {}

  // `lost`: one launch in so many has no kernel at all.
  std::vector<Launch> Run(bool is_shared, int64_t lost = 0) {
    std::vector<Launch> launches;
    for (int64_t round = 0; round < 120; ++round) {
      for (int64_t thread = 0; thread < threads_; ++thread) {
        const int64_t kind = Below(3);
        const int64_t call_ns = 1000 * round + Below(20);
        const auto number = static_cast<int64_t>(launches.size()) + 1;
        launches.push_back({"aten::op" + std::to_string(10 * thread + kind),
                            "kernel_" + std::to_string(number), thread + 1, thread + 1, call_ns,
                            call_ns + 20 + Below(300), number, number});
      }
    }
    for (size_t i = 0; i + 1 < launches.size(); ++i) {
      if (launches[i].thread < launches[i + 1].thread && Below(12) == 0) {
        launches[i + 1].kernel_number = launches[i].kernel_number;
        launches[i + 1].call_number =
            is_shared ? launches[i].call_number : launches[i + 1].call_number;
        ++planted;
        ++i;
      } else if (lost != 0 && Below(lost) == 0) {
        launches[i].kernel = "";
      }
    }
    return launches;
  }

  int planted = 0;

 private:
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  std::mt19937_64 random_;
  int64_t threads_;
};

struct Score {
  int right = 0;
  int wrong = 0;
  int open = 0;

  void Add(const std::vector<Launch>& launches, const Linked& linked) {
    std::map<std::string_view, uint32_t> rows;
    for (uint32_t row = 0; row < linked.trace.device().size(); ++row) {
      rows[linked.trace.Name(DeviceId{row})] = row;
    }
    for (const Launch& launch : launches) {
      if (launch.kernel.empty()) {
        continue;
      }
      const uint32_t row = rows[launch.kernel];
      const HostId call = linked.links.launch_of[row];
      const bool is_right = call.valid() &&
                            linked.trace.host().ts_ns[call.value] == launch.call_ns &&
                            NameOrNone(linked.trace, linked.links.op_of[row]) == launch.op;
      right += is_right ? 1 : 0;
      open += call.valid() ? 0 : 1;
      wrong += !is_right && call.valid() ? 1 : 0;
    }
  }
};

TEST(ContestedLaunchesTest, KernelsWithTheNumberOfAnotherThreadGoBackToTheirOwn) {
  for (const bool is_shared : {false, true}) {
    Score score;
    int planted = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Program program(seed, 2 + static_cast<int64_t>(seed % 3));
      const std::vector<Launch> launches = program.Run(is_shared);
      TraceMaker maker;
      Write(launches, false, maker);
      const Linked linked(maker);
      score.Add(launches, linked);
      planted += program.planted;
      EXPECT_EQ(linked.ambiguous(),
                std::count_if(linked.links.launch_of.begin(), linked.links.launch_of.end(),
                              [](HostId id) { return !id.valid(); }));
    }
    EXPECT_EQ(score.wrong, 0) << is_shared;
    EXPECT_LE(score.open, planted / 20) << is_shared << " of " << planted;
  }
}

// ... also where launches beside them have lost their kernels.
TEST(ContestedLaunchesTest, LaunchesWithoutKernelsDoNotMislead) {
  Score score;
  int planted = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program(seed, 3);
    const std::vector<Launch> launches = program.Run(false, 5);
    TraceMaker maker;
    Write(launches, false, maker);
    score.Add(launches, Linked(maker));
    planted += program.planted;
  }
  RecordProperty("planted", planted);
  RecordProperty("wrong", score.wrong);
  RecordProperty("open", score.open);
  EXPECT_LE(score.wrong, planted / 50) << planted;
  EXPECT_LE(score.open, planted / 2) << planted;
}

// Several threads on one stream: the calls name their kernels, as on AMD.
TEST(ContestedLaunchesTest, NamesOfKernelsDecide) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program(seed, 3);
    std::vector<Launch> launches = program.Run(false);
    for (Launch& launch : launches) {
      launch.stream = 7;
    }
    TraceMaker maker;
    Write(launches, true, maker);
    Score score;
    score.Add(launches, Linked(maker));
    EXPECT_EQ(score.wrong + score.open, 0) << seed;
  }
}

// Nothing says which of the two is whose: neither gets both.
TEST(ContestedLaunchesTest, WhatNothingDecidesHasNoLaunch) {
  TraceMaker maker;
  Write({{"aten::first", "a", 1, 1, 100, 200, 5, 5}, {"aten::second", "b", 2, 2, 101, 200, 6, 5}},
        false, maker);
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("a"), "");
  EXPECT_EQ(linked.OpOf("b"), "");
  EXPECT_EQ(linked.ambiguous(), 2U);
}

// ... unless a kernel is named like its operator, or both are of the same one.
TEST(ContestedLaunchesTest, OperatorsDecideWhereTheyCan) {
  TraceMaker maker;
  Write(
      {{"aten::mm", "gemm_k", 1, 1, 100, 200, 5, 5}, {"aten::add_", "add_k", 2, 2, 101, 200, 6, 5}},
      false, maker);
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("gemm_k"), "aten::mm");
  EXPECT_EQ(linked.OpOf("add_k"), "aten::add_");
  EXPECT_EQ(linked.ambiguous(), 0U);
}

// Numbers that begin again: an earlier kernel is not of a later call.
TEST(ContestedLaunchesTest, TimesDecideWhereNumbersBeginAgain) {
  TraceMaker maker;
  Write({{"aten::old", "a", 1, 1, 100, 200, 5, 5}, {"aten::new", "b", 1, 1, 10'000, 10'200, 5, 5}},
        false, maker);
  const Linked linked(maker);
  EXPECT_EQ(linked.OpOf("a"), "aten::old");
  EXPECT_EQ(linked.OpOf("b"), "aten::new");
}

// A launch of one kernel that is alone may have a helper on its stream; on another stream it is not
// its own.
TEST(ContestedLaunchesTest, SeveralKernelsOfOneLaunch) {
  for (const int64_t stream : {1, 2}) {
    TraceMaker maker;
    maker.Op("aten::mm", 1, {98, 10});
    maker.Call("hipLaunchKernel", 1, {100, 5}, 5);
    maker.Kernel("a", 1, {200, 40}, {.correlation = 5});
    maker.Kernel("b", stream, {300, 40}, {.correlation = 5});
    const Linked linked(maker);
    EXPECT_EQ(linked.OpOf("a"), stream == 1 ? "aten::mm" : "");
    EXPECT_EQ(linked.ambiguous(), stream == 1 ? 0U : 2U);
  }
}

// The call of the runtime around that of the driver launched nothing itself.
TEST(ContestedLaunchesTest, CallsAroundALaunchAreNoRivals) {
  for (const int64_t number : {5, 9}) {
    TraceMaker maker;
    maker.Op("aten::mm", 1, {98, 20});
    maker.Call("cudaLaunchKernel", 1, {100, 15}, number);
    maker.Call("cuLaunchKernel", 1, {102, 9}, 5);
    maker.Kernel("a", 1, {200, 40}, {.correlation = 5});
    maker.Kernel("b", 1, {300, 40}, {.correlation = 5});
    const Linked linked(maker);
    for (const std::string_view kernel : {"a", "b"}) {
      const HostId launch = linked.links.launch_of[testkit::FindDevice(linked.trace, kernel).value];
      EXPECT_EQ(NameOrNone(linked.trace, launch), "cuLaunchKernel") << number;
    }
  }
}

TEST(ContestedLaunchesTest, GraphsAndCooperativeLaunchesStartMany) {
  EXPECT_TRUE(IsLaunchOfOneKernel("cudaLaunchKernelExC"));
  EXPECT_TRUE(IsLaunchOfOneKernel("hipExtModuleLaunchKernel"));
  EXPECT_TRUE(IsLaunchOfOneKernel("cuLaunchKernel"));
  for (const std::string_view name :
       {"cudaGraphLaunch", "hipGraphLaunch", "hipLaunchCooperativeKernel",
        "hipExtLaunchMultiKernelMultiDevice", "runFunction", "cudaMemcpyAsync"}) {
    EXPECT_FALSE(IsLaunchOfOneKernel(name)) << name;
  }
}

}  // namespace
}  // namespace borescope::internal
