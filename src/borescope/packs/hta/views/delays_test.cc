// --compat hta: delays and sequences, which go by the operators around launches.
#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/packs/hta/views/hta_testing.h"

namespace borescope::internal {
namespace {

TEST(HtaDelaysTest, FirstLaunchOfEachCall) {
  TestTrace trace;
  for (int64_t call = 0; call < 2; ++call) {
    const int64_t at = 100 * call;
    trace.Op("aten::linear", Us(at, 50)).Op("aten::addmm", Us(at + 5, 40));
    trace.Launched("a", Us(at + 8 + call, 2), Us(at + 20, 5), {2 * call + 1, 7, 0});
    trace.Launched("b", Us(at + 15, 2), Us(at + 30, 5), {2 * call + 2, 7, 0});
  }
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()}, Hta())[0]),
            "rank,aten_op_name,kernel_sequence,occurrence_count,avg_aten_op_launch_delay_us,"
            "avg_runtime_delay_us\n0,aten::addmm,a -> b,2,3.5,11.5\n");
}

// Of operators that start together the outermost; threads do not matter.
TEST(HtaDelaysTest, TheFirstOfEqualStarts) {
  TestTrace trace;
  trace.Op("aten::matmul", Us(0, 20)).Op("aten::mm", Us(0, 18));
  trace.Launched("k", Us(5, 2), Us(9, 1), {1, 7, 0});
  trace.Op("aten::other_thread", Us(40, 30), {}, 2);
  trace.Launched("l", Us(50, 2), Us(60, 1), {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()}, Hta())[0], {"aten_op_name"}),
            "aten_op_name\naten::matmul\naten::other_thread\n");
}

TEST(HtaDelaysTest, OperatorsThatEndTooEarlyAreNotAround) {
  TestTrace trace;
  trace.Op("aten::outer", Us(0, 100)).Op("aten::early", Us(10, 5)).Op("my::op", Us(20, 50));
  trace.Launched("k", Us(30, 2), Us(40, 1), {1, 7, 0});
  EXPECT_EQ(Csv(Analyse("delays", {&trace.View()}, Hta())[0],
                {"aten_op_name", "avg_aten_op_launch_delay_us"}),
            "aten_op_name,avg_aten_op_launch_delay_us\naten::outer,30\n");
}

// HTA stops at these.
TEST(HtaDelaysTest, LaunchesWithoutOneKernelAreLeftOut) {
  TestTrace trace;
  trace.Op("aten::mm", Us(0, 100)).Runtime("cudaLaunchKernel", Us(5, 2), 1);
  trace.Launched("a", Us(10, 2), Us(20, 1), {2, 7, 0}).Kernel("b", Us(22, 1), {2, 7, 0});
  trace.Runtime("cudaLaunchKernel", Us(120, 2), 3).Kernel("outside", Us(130, 1), {3, 7, 0});
  EXPECT_EQ(Analyse("delays", {&trace.View()}, Hta())[0].rows(), 0u);
}

std::string Sequences(TestTrace& trace, std::string op, int64_t min_length) {
  Params params = Hta();
  params.values.push_back({kOperatorParam.name, 0, std::move(op)});
  params.values.push_back({kMinLengthParam.name, min_length, ""});
  return Csv(Analyse("sequences", {&trace.View()}, params)[0]);
}

TEST(HtaSequencesTest, KernelsBelowAnOperator) {
  TestTrace trace;
  trace.Op("aten::mm", Us(0, 20));
  trace.Launched("a", Us(1, 1), Us(5, 4), {1, 7, 0}).Launched("b", Us(3, 1), Us(12, 3), {2, 7, 0});
  EXPECT_EQ(Sequences(trace, "aten::mm", 2),
            "rank,pattern,count,gpu_kernel_us,cpu_op_us\n0,aten::mm|a|b,1,7,20\n");
}

TEST(HtaSequencesTest, OnlyTheLeastDeepMatches) {
  TestTrace trace;
  trace.Op("aten::linear", Us(0, 20)).Op("aten::addmm", Us(1, 18));
  trace.Launched("a", Us(2, 1), Us(5, 1), {1, 7, 0});
  trace.Op("wrap", Us(30, 30)).Op("aten::mm", Us(31, 20));
  trace.Launched("b", Us(32, 1), Us(40, 1), {2, 7, 0});
  trace.Op("aten::short", Us(70, 30));
  EXPECT_EQ(Sequences(trace, "aten::", 1),
            "rank,pattern,count,gpu_kernel_us,cpu_op_us\n0,aten::linear|a,1,1,20\n");
}

// The backward thread lies below the annotation of the main thread that it runs in.
TEST(HtaSequencesTest, TheBackwardThreadIsPutBelowItsAnnotation) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", Us(0, 200)).Annotation("## backward ##", Us(100, 80));
  trace.Op("autograd::engine", Us(110, 50), {}, 2).Op("MmBackward0", Us(112, 40), {}, 2);
  trace.Runtime("cudaLaunchKernel", Us(120, 2), 1, 2).Kernel("k", Us(130, 9), {1, 7, 0});
  EXPECT_EQ(Sequences(trace, "## backward ##", 1),
            "rank,pattern,count,gpu_kernel_us,cpu_op_us\n0,## backward ##|k,1,9,80\n");
}

// A row that lies in no tree is less deep than any, and has nothing below it.
TEST(HtaSequencesTest, ADeviceRowOfTheNameHidesAll) {
  TestTrace trace;
  trace.Op("fwd", Us(0, 20)).Launched("a", Us(2, 1), Us(5, 1), {1, 7, 0});
  trace.DeviceAnnotation("fwd", Us(5, 1), {kMissing, 7, 0});
  EXPECT_EQ(Sequences(trace, "fwd", 1), "rank,pattern,count,gpu_kernel_us,cpu_op_us\n");
}

}  // namespace
}  // namespace borescope::internal
