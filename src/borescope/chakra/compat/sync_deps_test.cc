#include "borescope/chakra/compat/sync_deps.h"

#include <gtest/gtest.h>

#include "borescope/chakra/compat/cpu_ops.h"
#include "borescope/chakra/compat/hta_graph.h"

namespace borescope::chakra::compat {
namespace {

DeviceTrace Read(std::string_view events) {
  Result<DeviceTrace> trace = ReadDeviceTrace(R"({"traceEvents":[)" + std::string(events) + "]}");
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

// A kernel for which a call waits, and what follows on the thread. Row 0 never counts.
constexpr std::string_view kStep =
    R"({"ph":"M","name":"process_name"},
       {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":99},)";
constexpr std::string_view kWait =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,
        "args":{"correlation":3,"External id":3}},
       {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":50,
        "args":{"correlation":3,"stream":7,"External id":30}},
       {"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":16,
        "dur":60,"args":{"correlation":4,"External id":40}},
       {"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":7,"ts":17,"dur":55,
        "args":{"correlation":4,"stream":7}},
       {"ph":"X","cat":"cpu_op","name":"next","pid":1,"tid":1,"ts":80,"dur":5})";

TEST(SyncDeps, AWaitOnTheLongestPath) {
  const SyncDeps deps = FindSyncDeps(Read(std::string(kStep) + std::string(kWait)));
  EXPECT_EQ(deps.failure, "");
  ASSERT_EQ(deps.by_waiting.size(), 1U);
  EXPECT_EQ(deps.by_waiting.at(40), (std::vector<int64_t>{30}));
}

TEST(SyncDeps, WithoutAStepThereIsNone) {
  const SyncDeps deps = FindSyncDeps(Read(R"({"ph":"M"},)" + std::string(kWait)));
  EXPECT_TRUE(deps.by_waiting.empty());
  EXPECT_NE(deps.failure.find("ProfilerStep"), std::string::npos);
}

TEST(SyncDeps, WithoutRecordsNothingIsLookedFor) {
  EXPECT_EQ(FindSyncDeps(Read(R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1})")).failure,
            "");
}

TEST(HtaGraph, TheFirstOfEqualPathsWins) {
  HtaGraph graph;
  const HtaGraph::Ends a = graph.AddEvent(1, 0, 5);
  const HtaGraph::Ends b = graph.AddEvent(2, 0, 5);
  const HtaGraph::Ends c = graph.AddEvent(3, 5, 9);
  graph.AddSpan(a.begin, a.end);
  graph.AddSpan(b.begin, b.end);
  graph.AddSpan(c.begin, c.end);
  graph.AddSync(b.end, c.begin);
  graph.AddFree(a.end, c.begin);
  std::vector<HtaEdge> path;
  ASSERT_TRUE(graph.LongestPath(path));
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(path[0].from, b.begin);
  EXPECT_TRUE(path[1].is_sync);
  graph.AddFree(c.end, a.begin);
  EXPECT_FALSE(graph.LongestPath(path)) << "a cycle";
}

// {1: [ts 100, rf 1], 2: [ts 150, rf 2; ts 200, rf 3]}
TEST(ThreadDeps, TheLastOneOfAnotherThread) {
  const auto op = [](int tid, int ts, int rf) {
    return R"({"cat":"cpu_op","name":"x","tid":)" + std::to_string(tid) + R"(,"ts":)" +
           std::to_string(ts) + R"(,"dur":1,"args":{"Record function id":)" + std::to_string(rf) +
           "}}";
  };
  SortedOps ops = SortOps(Read(op(1, 100, 1) + "," + op(2, 150, 2) + "," + op(2, 200, 3) + "," +
                               op(1, 175, 4) + "," + op(1, 1500, 5)));
  FindThreadDeps(ops);
  ASSERT_EQ(ops.cpu.size(), 5U);
  EXPECT_EQ(ops.cpu[0].waits_for, std::nullopt);
  EXPECT_EQ(ops.cpu[1].waits_for, 1);             // the first of its thread
  EXPECT_EQ(ops.cpu[2].waits_for, std::nullopt);  // 175: no gap, as the operator before it
  EXPECT_EQ(ops.cpu[3].waits_for, 1);             // 200: no gap, as the operator before it
  EXPECT_EQ(ops.cpu[4].waits_for, 3);             // behind a gap
}

TEST(DeviceEvents, ValuesOfArguments) {
  const DeviceTrace trace = Read(
      R"({"cat":"kernel","name":"k","tid":"x","ts":1.5,"dur":2,"args":{"External id":"123",
          "stream":7,"Record function id":12,"correlation":99}},{"cat":"ProfilerStep"})");
  const DeviceEvent& event = trace.events[0];
  EXPECT_EQ(event.external_id, 123);
  EXPECT_EQ(event.stream, "7");
  EXPECT_EQ(event.rf_id, 12);
  EXPECT_EQ(event.correlation, 99);
  EXPECT_TRUE(event.begin.is_double);
  EXPECT_FALSE(event.duration.is_double);
  EXPECT_EQ(trace.events[1].external_id, kNone);
  EXPECT_EQ(SortOps(trace).gpu.size(), 1U);
}

}  // namespace
}  // namespace borescope::chakra::compat
