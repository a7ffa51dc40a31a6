#include "borescope/packs/hta/frame.h"

#include <gtest/gtest.h>

#include <utility>

#include "borescope/packs/hta/views/hta_testing.h"

namespace borescope::internal {

namespace {

// The only host or device row of a name.
HostId HostRow(const Trace& trace, std::string_view name) {
  HostId found;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    found = trace.Name(HostId{row}) == name ? HostId{row} : found;
  }
  return found;
}

DeviceId DeviceRow(const Trace& trace, std::string_view name) {
  DeviceId found;
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    found = trace.Name(DeviceId{row}) == name ? DeviceId{row} : found;
  }
  return found;
}

// One graph launch with three kernels: each of them points to it.
TEST(HtaFrameTest, KernelsOfAGraphPointToTheirLaunch) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", Us(0, 5), 7).Launched("d", Us(10, 5), Us(60, 5), {8, 7, 0});
  trace.Kernel("a", Us(20, 5), {7, 7, 0}).Kernel("b", Us(30, 5), {7, 7, 0});
  trace.Kernel("orphan", Us(80, 5), {99, 7, 0}).Kernel("bare", Us(90, 5), {kMissing, 7, 0});
  const RankView& view = trace.View();
  const HtaFrame frame(view);
  EXPECT_EQ(frame.LaunchOf(DeviceRow(view.trace, "a")), HostRow(view.trace, "cudaGraphLaunch"));
  EXPECT_EQ(frame.LaunchOf(DeviceRow(view.trace, "b")), HostRow(view.trace, "cudaGraphLaunch"));
  EXPECT_EQ(frame.LaunchOf(DeviceRow(view.trace, "d")), HostRow(view.trace, "cudaLaunchKernel"));
  EXPECT_FALSE(frame.LaunchOf(DeviceRow(view.trace, "orphan")).valid());
  EXPECT_FALSE(frame.LaunchOf(DeviceRow(view.trace, "bare")).valid());
  EXPECT_TRUE(frame.HasDeviceRow(7));
  EXPECT_FALSE(frame.HasDeviceRow(5));
}

TEST(HtaFrameTest, OfTwoLaunchesTheLastCounts) {
  TestTrace trace;
  trace.Runtime("cudaLaunchKernelExC", Us(10, 9), 1).Runtime("cuLaunchKernelEx", Us(12, 2), 1);
  trace.Kernel("k", Us(20, 10), {1, 7, 0});
  const RankView& view = trace.View();
  EXPECT_EQ(HtaFrame(view).LaunchOf(DeviceId{0}), HostRow(view.trace, "cuLaunchKernelEx"));
}

TestTrace TwoSteps() {
  TestTrace trace;
  trace.Annotation("ProfilerStep#5", Us(10, 90)).Annotation("ProfilerStep#6", Us(100, 100));
  trace.Op("before", Us(0, 5)).Op("first", Us(20, 5)).Op("second", Us(120, 5));
  trace.Launched("k", Us(30, 2), Us(140, 10), {1, 7, 0});
  trace.Launched("amd", Us(40, 2), Us(60, 10), {2, 0, 0});
  return trace;
}

TEST(HtaFrameTest, HostRowsBeforeTheLastStepStay) {
  TestTrace trace = TwoSteps();
  const RankView& view = trace.View();
  const HtaFrame filtered(view);
  const HtaFrame all(view, HtaFrame::Steps::kAll);
  EXPECT_TRUE(filtered.Keeps(HostRow(view.trace, "before")));
  EXPECT_FALSE(filtered.Keeps(HostRow(view.trace, "second")));
  EXPECT_TRUE(all.Keeps(HostRow(view.trace, "second")));
}

// Rows of a stream have the step of their launch; those of stream 0 belong to no step.
TEST(HtaIterationsTest, ByTimeOrByLaunch) {
  TestTrace trace = TwoSteps();
  const RankView& view = trace.View();
  const HtaFrame frame(view);
  const HtaIterations iterations(frame);
  EXPECT_EQ(iterations.Of(HostRow(view.trace, "before")), HtaIterations::kNone);
  EXPECT_EQ(iterations.Of(HostRow(view.trace, "first")), 5);
  EXPECT_EQ(iterations.Of(HostRow(view.trace, "second")), 6);
  EXPECT_EQ(iterations.Of(DeviceRow(view.trace, "k")), 5);
  EXPECT_EQ(iterations.Of(DeviceRow(view.trace, "amd")), HtaIterations::kNone);
  EXPECT_EQ(iterations.kept(), (std::vector<int64_t>{5}));
}

// The copy of a step on the device is listed later, and counts if both contain a time.
TEST(HtaIterationsTest, TheLastListedStepCounts) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 100)).Annotation("ProfilerStep#2", Us(100, 100));
  trace.DeviceAnnotation("ProfilerStep#1", Us(50, 100), {kMissing, 7, 0});
  trace.Op("late", Us(120, 5)).Op("later", Us(160, 5));
  const RankView& view = trace.View();
  const HtaFrame frame(view, HtaFrame::Steps::kAll);
  const HtaIterations iterations(frame);
  EXPECT_EQ(iterations.Of(HostRow(view.trace, "late")), 1);
  EXPECT_EQ(iterations.Of(HostRow(view.trace, "later")), 2);
}

TEST(HtaShortNameTest, AsHtaShortens) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"a(1)", "a"},
      {"a<int>(b)", "a"},
      {"void at::native::(anonymous namespace)::f<int>(float*)", "at::native::::f"},
      {"operator< (x)", ""},
      {"f(a) const", "const"},
      {"Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"},
      {"plain name", "plain name"},
      {"f<g<int>, 4>(h*)", "f"},
      {"", ""},
  };
  for (const auto& [name, short_name] : kCases) {
    EXPECT_EQ(HtaShortName(name), short_name) << name;
  }
}

TEST(HtaAnnotationsTest, BothSidesByName) {
  TestTrace trace;
  trace.Annotation("fwd", Us(0, 10)).Annotation("fwd", Us(20, 30)).Annotation("bwd", Us(60, 5));
  trace.DeviceAnnotation("fwd", Us(5, 7), {kMissing, 7, 0});
  EXPECT_EQ(Csv(Analyse("annotations", {&trace.View()}, Hta())[0]),
            "rank,side,name,sum_us,max_us,min_us,stddev_us,mean_us\n"
            "0,device,fwd,7,7,7,0,7\n"
            "0,host,bwd,5,5,5,0,5\n"
            "0,host,fwd,40,30,10,14.1421,20\n");
}

std::string Kernels(TestTrace& trace) {
  return Csv(Analyse("annotations", {&trace.View()}, Hta())[1], {"annotation", "name"});
}

TEST(HtaAnnotationsTest, TheShortestThatOverlapsCounts) {
  TestTrace trace;
  trace.DeviceAnnotation("outer", Us(0, 100), {kMissing, 7, 0});
  trace.DeviceAnnotation("inner", Us(40, 20), {kMissing, 7, 0});
  trace.Kernel("a", Us(0, 40), {1, 7, 0}).Kernel("b", Us(50, 20), {2, 7, 0});
  trace.Kernel("c", Us(100, 9), {3, 7, 0}).Kernel("other_stream", Us(41, 1), {4, 9, 0});
  EXPECT_EQ(Kernels(trace), "annotation,name\nouter,a\n-,other_stream\ninner,b\n-,c\n");
}

// A kernel without length must be strictly inside.
TEST(HtaAnnotationsTest, KernelsWithoutLength) {
  TestTrace trace;
  trace.DeviceAnnotation("x", Us(10, 10), {kMissing, 7, 0});
  trace.Kernel("begin", Us(10, 0), {1, 7, 0}).Kernel("in", Us(15, 0), {2, 7, 0});
  trace.Kernel("end", Us(20, 0), {3, 7, 0});
  EXPECT_EQ(Kernels(trace), "annotation,name\n-,begin\nx,in\n-,end\n");
}

// Its label belongs to the interval, and therefore also to equal intervals of other streams.
TEST(HtaAnnotationsTest, LabelsLeakToEqualIntervals) {
  TestTrace trace;
  trace.DeviceAnnotation("x", Us(0, 100), {kMissing, 7, 0});
  trace.Kernel("a", Us(10, 10), {1, 7, 0}).Kernel("b", Us(10, 10), {2, 9, 0});
  EXPECT_EQ(Kernels(trace), "annotation,name\nx,a\nx,b\n");
}

TEST(HtaAnnotationsTest, WithoutDeviceAnnotationsThereIsNoAnswer) {
  TestTrace trace;
  trace.Annotation("fwd", Us(0, 10)).Kernel("a", Us(10, 10), {1, 7, 0});
  EXPECT_EQ(Kernels(trace), "annotation,name\n");
}

}  // namespace

}  // namespace borescope::internal
