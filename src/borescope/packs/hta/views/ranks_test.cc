// --compat hta: stragglers, which compare ranks, and diff, which compares runs.
#include <gtest/gtest.h>

#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/packs/hta/views/hta_testing.h"

namespace borescope::internal {
namespace {

// Two steps of which the second is dropped; one long NCCL kernel in the first.
TestTrace Rank(Span kernel) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 1000)).Annotation("ProfilerStep#2", Us(1000, 1000));
  trace.Launched("ncclKernel_AllReduce", Us(10, 5), kernel, {1, 7, 0});
  trace.Launched("gemm", Us(20, 5), Us(900, 90), {2, 9, 0});
  return trace;
}

TEST(HtaStragglersTest, TheRankThatStartsLast) {
  TestTrace first = Rank(Us(100, 400));
  TestTrace second = Rank(Us(300, 200));
  EXPECT_EQ(Csv(Analyse("stragglers", {&first.View(0), &second.View(1)}, Hta())[0]),
            "num_candidates,rank,count,position\n1,1,1,1\n1,0,0,2\n2,0,1,1\n2,1,1,2\n");
}

TEST(HtaStragglersTest, OneRankCannotBeCompared) {
  TestTrace trace = Rank(Us(100, 400));
  EXPECT_EQ(Analyse("stragglers", {&trace.View()}, Hta())[0].rows(), 0u);
}

// It looks at names that begin with ncclKernel, and at kernels of a hundredth of a step and more.
TEST(HtaStragglersTest, OtherNamesAndShortKernelsDoNotCount) {
  TestTrace short_one = Rank(Us(100, 5));
  TestTrace short_two = Rank(Us(300, 9));
  EXPECT_EQ(Analyse("stragglers", {&short_one.View(0), &short_two.View(1)}, Hta())[0].rows(), 0u);
  TestTrace newer_one;
  TestTrace newer_two;
  for (TestTrace* trace : {&newer_one, &newer_two}) {
    trace->Annotation("ProfilerStep#1", Us(0, 1000));
    trace->Launched("ncclDevKernel_AllReduce", Us(10, 5), Us(100, 300), {1, 7, 0});
  }
  EXPECT_EQ(Analyse("stragglers", {&newer_one.View(0), &newer_two.View(1)}, Hta())[0].rows(), 0u);
}

// Map, reduce, compare.
Tables Compare(TestTrace& base, TestTrace& test, const Params& params) {
  const Pipeline& pipeline = FindAnalysis("diff")->PipelineFor(params);
  const auto mapped = [&](TestTrace& trace) {
    const Tables tables = pipeline.map(trace.View(), params).value();
    return pipeline.reduce({&tables, 1}, params).value();
  };
  return pipeline.compare(mapped(base), mapped(test), params).value();
}

TEST(HtaDiffTest, TheFirstStepByDefault) {
  TestTrace base;
  base.Annotation("ProfilerStep#3", Us(0, 100)).Annotation("ProfilerStep#4", Us(100, 100));
  base.Op("both", Us(10, 5)).Op("gone", Us(20, 5)).Op("later", Us(110, 5));
  base.Launched("k<int>(x)", Us(30, 2), Us(150, 9), {1, 7, 0});
  TestTrace test;
  test.Annotation("ProfilerStep#3", Us(0, 100));
  test.Op("both", Us(10, 7))
      .Op("both", Us(20, 7))
      .Launched("k<float>(x)", Us(30, 2), Us(40, 8), {1, 7, 0});
  Params params = Hta();
  EXPECT_EQ(Csv(Compare(base, test, params)[0],
                {"side", "name", "base_count", "test_count", "diff_us", "counts_change"}),
            "side,name,base_count,test_count,diff_us,counts_change\n"
            "cpu,ProfilerStep#3,1,1,0,=\n"
            "cpu,both,1,2,9,+\n"
            "cpu,cudaLaunchKernel,1,1,0,=\n"
            "cpu,gone,1,0,-5,-\n"
            "gpu,k<float>(x),0,1,8,+\n"
            "gpu,k<int>(x),1,0,-9,-\n");
}

TEST(HtaDiffTest, ShortNamesMeet) {
  Params params = Hta();
  params.values.push_back({kShortNamesParam.name, 1, ""});
  TestTrace base;
  base.Kernel("void k<int>(x)", Us(0, 9), {1, 7, 0});
  TestTrace test;
  test.Kernel("void k<float>(x)", Us(0, 8), {1, 7, 0});
  EXPECT_EQ(Csv(Compare(base, test, params)[1], {"side", "names", "unchanged", "base_us"}),
            "side,names,unchanged,base_us\ncpu,0,0,0\ngpu,1,1,9\nall,1,1,9\n");
}

TEST(HtaDiffTest, ChosenSteps) {
  Params params = Hta();
  params.selection.steps = NumberRanges::Parse("4").value();
  TestTrace base;
  base.Annotation("ProfilerStep#3", Us(0, 100)).Annotation("ProfilerStep#4", Us(100, 100));
  base.Op("later", Us(110, 5));
  TestTrace test;
  test.Annotation("ProfilerStep#4", Us(0, 100)).Op("outside", Us(200, 5));
  EXPECT_EQ(Csv(Compare(base, test, params)[0], {"name", "counts_change"}),
            "name,counts_change\nProfilerStep#4,=\nlater,-\n");
}

}  // namespace
}  // namespace borescope::internal
