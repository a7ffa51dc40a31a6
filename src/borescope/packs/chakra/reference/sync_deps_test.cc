#include "borescope/packs/chakra/reference/sync_deps.h"

#include <gtest/gtest.h>

#include <map>

namespace borescope::internal::chakra::compat {
namespace {

DeviceTrace Read(std::string_view events) {
  Result<DeviceTrace> trace = ReadDeviceTrace(R"({"traceEvents":[)" + std::string(events) + "]}");
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

// A kernel for which a call waits, and the operator after it on the thread. Row 0 never counts.
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

std::string Step(int number, int begin_us) {
  return R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(number) +
         R"(","pid":1,"tid":1,"ts":)" + std::to_string(begin_us) + R"(,"dur":99},)";
}

// The kernel and the wait in kWait, `shift_us` later and with other numbers.
std::string LaterWait(int shift_us, int number) {
  const auto event = [&](const char* cat, const char* name, int tid, int ts, int dur,
                         const std::string& args) {
    return R"({"ph":"X","cat":")" + std::string(cat) + R"(","name":")" + name +
           R"(","pid":1,"tid":)" + std::to_string(tid) + R"(,"ts":)" +
           std::to_string(ts + shift_us) + R"(,"dur":)" + std::to_string(dur) + R"(,"args":{)" +
           args + "}}";
  };
  const auto ids = [&](int correlation, const std::string& external_id) {
    return R"("correlation":)" + std::to_string(number + correlation) + R"(,"External id":)" +
           std::to_string(number) + external_id;
  };
  return event("cuda_runtime", "cudaLaunchKernel", 1, 10, 5, ids(3, "03")) + "," +
         event("kernel", "k", 7, 20, 50, R"("stream":7,)" + ids(3, "30")) + "," +
         event("cuda_runtime", "cudaStreamSynchronize", 1, 16, 60, ids(4, "40")) + "," +
         event("cuda_sync", "Stream Sync", 7, 17, 55,
               R"("stream":7,"correlation":)" + std::to_string(number + 4)) +
         "," + event("cpu_op", "next", 1, 80, 5, "");
}

using Waits = std::map<int64_t, std::vector<int64_t>>;

Waits Sorted(const SyncDeps& deps) {
  const auto& waits = deps.by_waiting.InAnyOrder();
  return {waits.begin(), waits.end()};
}

constexpr std::string_view kNoEvent = R"({"ph":"M","name":"process_name"},)";

// The reference looks at the first of several steps; it does not even read the last one.
TEST(SyncDeps, OfSeveralStepsTheFirstCounts) {
  const std::string later = "," + LaterWait(1000, 100) + "," + LaterWait(2000, 200);
  const SyncDeps deps = FindSyncDeps(Read(std::string(kNoEvent) + Step(1, 0) + Step(2, 1000) +
                                          Step(3, 2000) + std::string(kWait) + later));
  EXPECT_EQ(deps.failure, "");
  EXPECT_EQ(Sorted(deps), (Waits{{40, {30}}}));
}

// Device rows come first if a step is left out; the window is then the step on the device.
TEST(SyncDeps, TheStepOfTheDeviceComesBeforeThatOfTheHost) {
  const std::string on_device =
      R"({"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":5,
          "dur":5000,"args":{"stream":7}},)";
  const std::string steps = std::string(kNoEvent) + Step(1, 0) + Step(2, 1000) + Step(3, 2000);
  const std::string later = "," + LaterWait(1000, 100) + "," + LaterWait(2000, 200);
  EXPECT_EQ(Sorted(FindSyncDeps(Read(steps + on_device + std::string(kWait) + later))),
            (Waits{{40, {30}}, {10040, {10030}}}));
}

// A wait for an event is a row of the device although its stream is not known: it stays with its
// call.
TEST(SyncDeps, AWaitForAnEventBelongsToTheStepOfItsCall) {
  const std::string steps =
      std::string(kNoEvent) + Step(1, 0) + Step(2, 1000) +
      R"({"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":0,"tid":7,"ts":5,
          "dur":5000,"args":{"stream":7}},)";
  const std::string at_the_end =
      R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":905,"dur":2,
           "args":{"correlation":25,"External id":24}},
          {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":910,"dur":100,
           "args":{"correlation":25,"stream":7,"External id":250}},
          {"ph":"X","cat":"cuda_runtime","name":"cudaEventRecord","pid":1,"tid":1,"ts":950,"dur":1,
           "args":{"correlation":23}},
          {"ph":"X","cat":"cpu_op","name":"around","pid":1,"tid":1,"ts":980,"dur":80},
          {"ph":"X","cat":"cuda_runtime","name":"cudaEventSynchronize","pid":1,"tid":1,"ts":990,
           "dur":60,"args":{"correlation":24,"External id":240}},
          {"ph":"X","cat":"cuda_sync","name":"Event Sync","pid":0,"tid":-1,"ts":1002,"dur":40,
           "args":{"stream":-1,"correlation":24,"wait_on_stream":7,
                   "wait_on_cuda_event_record_corr_id":23}})";
  EXPECT_EQ(Sorted(FindSyncDeps(Read(steps + std::string(kWait) + at_the_end))),
            (Waits{{40, {30}}, {240, {250}}}));
}

// By External id, as the reference's linker asks HTA: two waits with the same id share a list, and
// a wait without one is skipped.
TEST(SyncDeps, WaitsAreKnownByExternalId) {
  std::string other = LaterWait(1000, 100);
  other.replace(other.find("10040"), 5, "40");
  const std::string long_step =
      R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,
          "dur":9999},)";
  const std::string events = std::string(kNoEvent) + long_step + std::string(kWait) + ",";
  EXPECT_EQ(Sorted(FindSyncDeps(Read(events + other))), (Waits{{40, {30, 10030}}}));
  other.replace(other.find(R"("External id":40)"), 13, R"("Outernal id")");
  EXPECT_EQ(Sorted(FindSyncDeps(Read(events + other))), (Waits{{40, {30}}}));
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

}  // namespace
}  // namespace borescope::internal::chakra::compat
