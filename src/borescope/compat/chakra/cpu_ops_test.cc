#include "borescope/compat/chakra/cpu_ops.h"

#include <gtest/gtest.h>

#include <array>

namespace borescope::internal::chakra::compat {
namespace {

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

// What the operators wait for, in the order of their begins.
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
