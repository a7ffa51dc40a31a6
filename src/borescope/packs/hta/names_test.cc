#include "borescope/packs/hta/names.h"

#include <gtest/gtest.h>

#include <utility>

#include "borescope/packs/hta/views/hta_testing.h"

namespace borescope::internal {
namespace {

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

// A kernel without length has to lie strictly inside.
TEST(HtaAnnotationsTest, KernelsWithoutLength) {
  TestTrace trace;
  trace.DeviceAnnotation("x", Us(10, 10), {kMissing, 7, 0});
  trace.Kernel("begin", Us(10, 0), {1, 7, 0}).Kernel("in", Us(15, 0), {2, 7, 0});
  trace.Kernel("end", Us(20, 0), {3, 7, 0});
  EXPECT_EQ(Kernels(trace), "annotation,name\n-,begin\nx,in\n-,end\n");
}

// Its label goes by interval, and so to equal intervals of other streams.
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
