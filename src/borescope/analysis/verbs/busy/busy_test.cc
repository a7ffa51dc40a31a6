#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kHeader = "rank,gpu,count,span_ns,busy_ns,idle_ns,sum_ns,share\n";

TEST(BusyTest, OverlapCountsOnceInTheUnionAndTwiceInTheSum) {
  TestTrace trace;
  trace.Op("f", {0, 200});
  trace.Kernel("a", {0, 60}, {1, 7, 0}).Kernel("b", {40, 60}, {2, 9, 0});
  trace.Memcpy("Memcpy HtoD (Pinned -> Device)", {150, 10}, {3, 7, 0});
  trace.Kernel("nothing", {180, 0}, {4, 7, 0}).Sync("Stream Sync", {100, 40}, {5, 7, 0});
  trace.Kernel("c", {0, 50}, {6, 7, 1});
  EXPECT_EQ(Csv(Analyse("busy", {&trace.View()})[0]), std::string(kHeader) +
                                                          "0,0,4,200,110,90,130,0.55\n"
                                                          "0,1,1,200,50,150,50,0.25\n");
}

TEST(BusyTest, OverlappingWorkOnOneStream) {
  TestTrace trace;
  trace.Kernel("a", {0, 60}).Kernel("b", {40, 60});
  EXPECT_EQ(Csv(Analyse("busy", {&trace.View()})[0], {"span_ns", "busy_ns", "sum_ns"}),
            "span_ns,busy_ns,sum_ns\n100,100,120\n");
}

TEST(BusyTest, ByStream) {
  TestTrace trace;
  trace.Kernel("a", {0, 60}, {1, 0, 0}).Kernel("b", {40, 60}, {2, 9, 0});
  Params params;
  params.by = {"stream"};
  EXPECT_EQ(Csv(Analyse("busy", {&trace.View()}, params)[0],
                {"gpu", "process", "stream", "busy_ns", "idle_ns"}),
            "gpu,process,stream,busy_ns,idle_ns\n0,-,0,60,40\n0,-,9,60,40\n");
}

TEST(BusyTest, ProcessesOfAFileShareADevice) {
  TracePart part;
  const auto add = [&](int64_t process, int64_t ts_ns, int64_t dur_ns) {
    AddDeviceRow(part.data.device, {.ts_ns = ts_ns,
                                    .dur_ns = dur_ns,
                                    .name = part.Intern("k"),
                                    .track = part.Track(TrackKind::kDevice, 0, 7, process),
                                    .kind = DeviceKind::kKernel});
  };
  add(11, 0, 60);
  add(12, 30, 50);
  TraceBuilder builder;
  builder.Append(std::move(part));
  Result<Trace> trace = builder.Finish({}, 0, 1);
  ASSERT_TRUE(trace.ok());
  const TraceIndex index = BuildIndex(*trace, 1);
  const RankView view{0, *trace, index};
  EXPECT_EQ(Csv(Analyse("busy", {&view})[0], {"gpu", "busy_ns", "sum_ns"}),
            "gpu,busy_ns,sum_ns\n0,80,110\n");
  Params params;
  params.by = {"process"};
  EXPECT_EQ(Csv(Analyse("busy", {&view}, params)[0], {"gpu", "process", "busy_ns"}),
            "gpu,process,busy_ns\n0,11,60\n0,12,50\n");
}

TEST(BusyTest, WindowsCutWork) {
  TestTrace trace;
  trace.Annotation("part", {50, 20}).Annotation("part", {90, 20}).Op("f", {0, 200});
  trace.Kernel("a", {0, 60}, {1, 7, 0}).Kernel("b", {55, 50}, {2, 9, 0});
  trace.Kernel("outside", {150, 10}, {3, 7, 0}).Kernel("moment", {70, 0}, {4, 7, 0});
  Params params;
  params.selection.annotation = "part";
  EXPECT_EQ(Csv(Analyse("busy", {&trace.View()}, params)[0]),
            std::string(kHeader) + "0,0,2,40,35,5,40,0.875\n");
}

TEST(BusyTest, ARankWithoutWorkIsIdle) {
  TestTrace idle;
  idle.Op("f", {0, 70});
  TestTrace busy;
  busy.Kernel("a", {0, 10});
  EXPECT_EQ(Csv(Analyse("busy", {&idle.View(1), &busy.View(0)})[0]),
            std::string(kHeader) + "0,0,1,10,10,0,10,1\n1,-,0,70,0,70,0,0\n");
}

}  // namespace
}  // namespace borescope::internal
