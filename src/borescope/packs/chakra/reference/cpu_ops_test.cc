#include "borescope/packs/chakra/reference/cpu_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace borescope::internal::chakra::compat {

namespace {

using Pair = std::pair<int64_t, int64_t>;

std::vector<int64_t> Exclusive(const std::vector<Pair>& spans) {
  std::vector<TimedSpan> timed;
  timed.reserve(spans.size());
  for (const Pair& span : spans) {
    timed.push_back({Number::Int(span.first), Number::Int(span.second)});
  }
  Diagnostics diagnostics;
  std::vector<int64_t> left;
  left.reserve(spans.size());
  for (const Number& number : ExclusiveDurations(timed, diagnostics)) {
    EXPECT_FALSE(number.is_double);
    left.push_back(number.whole);
  }
  return left;
}

TEST(ExclusiveDurations, NestedSpansCountOnce) {
  EXPECT_EQ(Exclusive({{100, 10}, {105, 3}, {108, 1}}), (std::vector<int64_t>{6, 3, 1}));
  EXPECT_EQ(Exclusive({{100, 20}, {105, 5}, {110, 5}}), (std::vector<int64_t>{10, 5, 5}));
  EXPECT_EQ(Exclusive({{0, 100}, {10, 50}, {20, 10}}), (std::vector<int64_t>{50, 40, 10}));
}

// Children that touch or overlap count once: 10 of 20, 4 of 9, 3 of 9, 8 of 12.
TEST(ExclusiveDurations, ChildrenCountByTheTimeTheyCover) {
  EXPECT_EQ(Exclusive({{0, 20}, {1, 2}, {2, 4}, {8, 2}, {15, 3}})[0], 10);
  EXPECT_EQ(Exclusive({{0, 9}, {1, 3}, {4, 1}})[0], 5);
  EXPECT_EQ(Exclusive({{0, 9}, {1, 1}, {2, 1}, {3, 1}})[0], 6);
  EXPECT_EQ(Exclusive({{0, 12}, {1, 4}, {2, 4}, {6, 2}, {7, 2}})[0], 4);
  EXPECT_EQ(Exclusive({}), std::vector<int64_t>());
}

TEST(ExclusiveDurations, OfOneBeginTheLongerDoesNotSeeTheShorter) {
  EXPECT_EQ(Exclusive({{100, 10}, {100, 4}}), (std::vector<int64_t>{10, 4}));
  EXPECT_EQ(Exclusive({{100, 10}, {100, 10}}), (std::vector<int64_t>{0, 10}));
}

TEST(ExclusiveDurations, FractionsMakeDoubles) {
  Diagnostics diagnostics;
  const std::vector<TimedSpan> spans = {{Number::Double(0.5), Number::Int(10)},
                                        {Number::Int(1), Number::Double(0.1)}};
  const std::vector<Number> left = ExclusiveDurations(spans, diagnostics);
  EXPECT_TRUE(left[0].is_double);
  EXPECT_EQ(left[0].fraction, 10 - ((1 + 0.1) - 1));
}

// The rule written out, without shortcuts.
std::vector<int64_t> ByTheLetter(const std::vector<Pair>& spans) {
  std::vector<size_t> order(spans.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return spans[a] < spans[b]; });
  std::vector<int64_t> left(spans.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto [begin, duration] = spans[order[i]];
    std::vector<char> is_taken(64, 0);
    for (size_t j = i + 1; j < order.size() && spans[order[j]].first <= begin + duration; ++j) {
      const auto [other, length] = spans[order[j]];
      for (int64_t t = other; other + length <= begin + duration && t < other + length; ++t) {
        is_taken[static_cast<size_t>(t)] = 1;
      }
    }
    left[order[i]] = duration - std::count(is_taken.begin(), is_taken.end(), 1);
  }
  return left;
}

TEST(ExclusiveDurations, CrossingSpansFollowTheRule) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Pair> spans(1 + random() % 9);
    for (Pair& span : spans) {
      span = {random() % 20, random() % 20};
    }
    ASSERT_EQ(Exclusive(spans), ByTheLetter(spans)) << round;
  }
}

DeviceTrace Read(std::string_view events) {
  Result<DeviceTrace> trace = ReadDeviceTrace(R"({"traceEvents":[)" + std::string(events) + "]}");
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

std::string Event(std::string_view category, std::string_view name, int correlation = 1) {
  return R"({"cat":")" + std::string(category) + R"(","name":")" + std::string(name) +
         R"(","tid":1,"ts":1,"dur":1,"args":{"correlation":)" + std::to_string(correlation) + "}}";
}

std::string Op(int tid, int ts, int rf) {
  return R"({"cat":"cpu_op","name":"x","tid":)" + std::to_string(tid) + R"(,"ts":)" +
         std::to_string(ts) + R"(,"dur":1,"args":{"Record function id":)" + std::to_string(rf) +
         "}}";
}

using Wait = std::optional<int64_t>;

// The operators for which operators wait, in the order of their begins.
std::vector<Wait> ThreadDeps(const std::string& events) {
  SortedOps ops = SortOps(Read(events));
  FindThreadDeps(ops);
  std::vector<Wait> waits;
  waits.reserve(ops.cpu.size());
  for (const CpuOp& op : ops.cpu) {
    waits.push_back(op.waits_for);
  }
  return waits;
}

// {1: [ts 100, rf 1], 2: [ts 150, rf 2; ts 200, rf 3]}, and an operator at 175.
TEST(ThreadDeps, OperatorsUpToAGapWaitForWhatTheFirstWaitsFor) {
  EXPECT_EQ(ThreadDeps(Op(1, 100, 1) + "," + Op(2, 150, 2) + "," + Op(2, 200, 3) + "," +
                       Op(1, 175, 4) + "," + Op(1, 1500, 5)),
            (std::vector<Wait>{{}, 1, {}, 1, 3}));
}

// A thread that begins at a time waits for the last operator before it, if there is one.
TEST(ThreadDeps, TheLastOperatorOfAnotherThread) {
  const std::string ops = Op(1, 100, 1) + "," + Op(2, 150, 2) + "," + Op(2, 200, 3) + ",";
  EXPECT_EQ(ThreadDeps(ops + Op(3, 175, 9))[2], 2);
  EXPECT_EQ(ThreadDeps(ops + Op(3, 125, 9))[1], 1);
  EXPECT_EQ(ThreadDeps(ops + Op(3, 50, 9))[0], std::nullopt);
}

TEST(DeviceEvents, ValuesOfArguments) {
  const DeviceTrace trace = Read(
      R"({"cat":"kernel","name":"k","tid":"x","ts":1.5,"dur":2,"args":{"External id":"123",
          "Ev Idx":"456","stream":7,"Record function id":12,"correlation":99}},
         {"cat":"ProfilerStep"})");
  const DeviceEvent& event = trace.events[0];
  EXPECT_EQ(event.external_id, 123);
  EXPECT_EQ(event.stream, "7");
  EXPECT_EQ(event.rf_id, 12);
  EXPECT_EQ(event.correlation, 99);
  EXPECT_TRUE(event.begin.is_double);
  EXPECT_FALSE(event.duration.is_double);
  EXPECT_EQ(trace.events[1].external_id, kNone);
}

TEST(SortOps, CategoriesSayWhatAnEventIs) {
  const auto sizes = [](const std::string& event) {
    const SortedOps ops = SortOps(Read(event));
    return std::array{ops.cpu.size(), ops.gpu.size(), ops.launch_of.size()};
  };
  using Sizes = std::array<size_t, 3>;  // operators, device work, launches
  EXPECT_EQ(sizes(Event("cpu_op", "aten::mm")), (Sizes{1, 0, 0}));
  EXPECT_EQ(sizes(Event("cpu_op", "cudaLaunchKernel")), (Sizes{1, 0, 0}));
  EXPECT_EQ(sizes(Event("user_annotation", "mine")), (Sizes{1, 0, 0}));
  EXPECT_EQ(sizes(Event("user_annotation", "ProfilerStep#1")), (Sizes{0, 0, 0}));
  EXPECT_EQ(sizes(Event("ProfilerStep", "x")), (Sizes{0, 0, 0}));
  EXPECT_EQ(sizes(Event("kernel", "k")), (Sizes{0, 1, 0}));
  EXPECT_EQ(sizes(Event("gpu_memcpy", "k")), (Sizes{0, 1, 0}));
  EXPECT_EQ(sizes(Event("gpu_memset", "k")), (Sizes{0, 0, 0}));
  EXPECT_EQ(sizes(Event("cuda_runtime", "cudaGraphLaunch")), (Sizes{0, 0, 0}));
  for (const char* const name :
       {"cuLaunchKernel", "cuLaunchKernelEx", "cudaLaunchKernel", "cudaLaunchKernelExC",
        "cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpyFromSymbol", "cudaMemcpyToSymbol",
        "cudaLaunchCooperativeKernel", "hipLaunchKernel", "hipExtLaunchKernel",
        "hipExtModuleLaunchKernel", "hipModuleLaunchKernel", "hipMemcpyWithStream",
        "hipMemcpyAsync"}) {
    EXPECT_EQ(sizes(Event("cuda_runtime", name)), (Sizes{0, 0, 1})) << name;
    EXPECT_EQ(sizes(Event("cuda_driver", name)), (Sizes{0, 0, 1})) << name;
  }
}

TEST(SortOps, TwoLaunchesOfOneCorrelationAreCounted) {
  const SortedOps ops = SortOps(Read(Event("cuda_runtime", "cudaLaunchKernel", 5) + "," +
                                     Event("cuda_driver", "cuLaunchKernel", 5)));
  EXPECT_EQ(ops.launch_of.at(5), 0U);
  EXPECT_EQ(ops.diagnostics.Get(Diag::kDuplicateCorrelation).count, 1U);
}

}  // namespace

}  // namespace borescope::internal::chakra::compat
