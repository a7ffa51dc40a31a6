#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

Params With(const ParamSpec& spec, int64_t number) {
  Params params;
  params.values.push_back({spec.name, number, ""});
  return params;
}

// "ts:length" of every change of a stream.
std::string Series(const RankView& view, int64_t stream = 7) {
  const Table table = Analyse("queue", {&view}, With(kSeriesParam, 1))[1];
  const auto ints = [&](std::string_view name) {
    return std::get<IntValues>(table.Find(name)->values);
  };
  std::string text;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (ints("stream")[row] == stream) {
      text += (text.empty() ? "" : " ") + std::to_string(ints("ts_ns")[row]) + ":" +
              std::to_string(ints("length")[row]);
    }
  }
  return text;
}

// Two streams, and at 90 a launch at the moment at which work begins.
TestTrace TwoStreams() {
  TestTrace trace;
  trace.Launched("gemm", {10, 5}, {20, 30}, {1, 7, 0});
  trace.Launched("ncclDevKernel_AllReduce", {20, 5}, {30, 40}, {2, 9, 0});
  trace.Launched("gemm", {30, 5}, {55, 10}, {3, 7, 0});
  trace.Launched("relu", {80, 5}, {90, 10}, {4, 7, 0});
  trace.Launched("relu", {90, 5}, {140, 10}, {5, 7, 0});
  trace.Runtime("cudaMemcpyAsync", {95, 8}, 6);
  trace.Memcpy("Memcpy HtoD (Pageable -> Device)", {160, 0}, {6, 7, 0});
  trace.Launched("SyncBatchNorm_k", {120, 5}, {170, 10}, {7, 7, 0});
  return trace;
}

TEST(QueueTest, LaunchesEnterBeforeWorkBegins) {
  TestTrace trace = TwoStreams();
  const RankView& view = trace.View();
  EXPECT_EQ(Series(view), "10:1 20:0 30:1 55:0 80:1 90:2 90:1 95:2 120:3 140:2 160:1 170:0");
  EXPECT_EQ(Series(view, 9), "20:1 30:0");
}

TEST(QueueTest, StatisticsOfSamplesAndOfTime) {
  TestTrace trace = TwoStreams();
  // Time: 10 at 1, 25 at 1, 10 at 1, 5 at 1, 25 at 2, 20 at 3, 20 at 2, 10 at 1 of 160.
  EXPECT_EQ(Csv(Analyse("queue", {&trace.View()})[0]),
            "rank,gpu,stream,samples,mean,stddev,min,p25,p50,p75,max,time_mean,blocked_ns,"
            "blocked_share,unlinked\n"
            "0,0,7,12,1.16667,0.937437,0,0.75,1,2,3,1.3125,0,0,0\n"
            "0,0,9,2,0.5,0.707107,0,0.25,0.5,0.75,1,1,0,0,0\n");
}

TEST(QueueTest, BlockedIsTheTimeAtTheLimit) {
  TestTrace trace = TwoStreams();
  EXPECT_EQ(Csv(Analyse("queue", {&trace.View()}, With(kQueueLimitParam, 2))[0],
                {"stream", "blocked_ns", "blocked_share"}),
            "stream,blocked_ns,blocked_share\n7,65,0.382353\n9,0,0\n");
}

TEST(QueueTest, AGraphIsOneLaunchOnEveryStream) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {10, 5}, 1);
  trace.Kernel("a", {20, 5}, {1, 7, 0}).Kernel("b", {30, 5}, {1, 7, 0});
  trace.Kernel("c", {40, 5}, {1, 8, 0}).Kernel("a", {50, 5}, {1, 7, 0});
  const RankView& view = trace.View();
  EXPECT_EQ(Series(view), "10:1 20:0");
  EXPECT_EQ(Series(view, 8), "10:1 40:0");
}

TEST(QueueTest, WorkBeforeItsLaunchEntersWhenItBegins) {
  TestTrace trace;
  trace.Launched("early", {100, 5}, {50, 5}, {1, 7, 0});
  trace.Launched("next", {40, 5}, {60, 5}, {2, 7, 0});
  EXPECT_EQ(Series(trace.View()), "40:1 50:2 50:1 60:0");
}

TEST(QueueTest, WorkWithoutALaunchIsCountedApart) {
  TestTrace trace;
  trace.Kernel("orphan", {10, 5}, {99, 7, 0}).Kernel("alone", {20, 5}, {98, 3, 1});
  trace.Launched("k", {0, 5}, {30, 5}, {1, 7, 0});
  trace.Sync("Stream Sync", {40, 5}, {97, 7, 0});
  EXPECT_EQ(Csv(Analyse("queue", {&trace.View()})[0],
                {"gpu", "stream", "samples", "mean", "max", "time_mean", "unlinked"}),
            "gpu,stream,samples,mean,max,time_mean,unlinked\n0,7,2,0.5,1,1,1\n1,3,0,-,-,-,1\n");
}

TEST(QueueTest, LengthsOfAWindowKnowWhatWasLaunchedBefore) {
  TestTrace trace = TwoStreams();
  trace.Annotation("part", {100, 50});
  Params params = With(kQueueLimitParam, 3);
  params.selection.annotation = "part";
  EXPECT_EQ(Csv(Analyse("queue", {&trace.View()}, params)[0],
                {"stream", "samples", "min", "max", "time_mean", "blocked_ns", "blocked_share"}),
            "stream,samples,min,max,time_mean,blocked_ns,blocked_share\n"
            "7,2,2,3,2.4,20,0.4\n9,0,-,-,-,0,0\n");
}

TEST(QueueTest, StreamZeroAndHipLaunchesCount) {
  TestTrace trace;
  trace.Runtime("hipExtModuleLaunchKernel", {0, 5}, 1).Kernel("k", {10, 5}, {1, 0, 2});
  EXPECT_EQ(Series(trace.View(), 0), "0:1 10:0");
}

TEST(QueueTest, RowsAreSortedByGpuAndStream) {
  TestTrace trace;
  trace.Launched("a", {0, 1}, {5, 1}, {1, 20, 1}).Launched("b", {1, 1}, {6, 1}, {2, 7, 1});
  trace.Launched("c", {2, 1}, {7, 1}, {3, 9, 0});
  const RankView& view = trace.View(3);
  EXPECT_EQ(Csv(Analyse("queue", {&view})[0], {"rank", "gpu", "stream"}),
            "rank,gpu,stream\n3,0,9\n3,1,7\n3,1,20\n");
  Params params;
  params.selection.gpus = NumberRanges::Parse("1").value();
  EXPECT_EQ(Csv(Analyse("queue", {&view}, params)[0], {"stream"}), "stream\n7\n20\n");
}

TEST(QueueTest, TheOverlayHoldsACounterForEveryStream) {
  TestTrace trace = TwoStreams();
  const Overlay overlay = FindAnalysis("queue")->overlay(trace.View(), {}).value();
  ASSERT_EQ(overlay.counters.size(), 2u);
  EXPECT_EQ(overlay.counters[0].name, "Queue length, stream 7");
  EXPECT_EQ(overlay.counters[0].series, "launches");
  EXPECT_EQ(overlay.counters[0].pid, 0);
  EXPECT_EQ(overlay.counters[0].points.size(), 12u);
  EXPECT_EQ(overlay.counters[1].points[0].ts_ns, 20);
  EXPECT_EQ(overlay.counters[1].points[0].value, 1.0);
}

}  // namespace
}  // namespace borescope::internal
