#include <gtest/gtest.h>

#include <limits>

#include "borescope/analysis/verbs/counters/counter_flops.h"
#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// The tables.
constexpr size_t kLineup = 0;
constexpr size_t kFlops = 1;
constexpr size_t kCounters = 2;

constexpr std::string_view kFma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
constexpr std::string_view kAdd = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";

Tables Ask(TestTrace& trace, const Params& params = {}) {
  return Analyse("counters", {&trace.View()}, params);
}

std::string LineupOf(TestTrace& trace) {
  return Csv(Ask(trace)[kLineup], {"gpu", "ranges", "launches", "lined_up", "mode"});
}

// Two operators with a launch each; kernels were replayed, not recorded.
TestTrace Replayed() {
  TestTrace trace;
  trace.Op("aten::conv2d", {0, 100}).Op("aten::cudnn_convolution", {10, 50});
  trace.Runtime("cudaLaunchKernel", {20, 5}, 1);
  trace.Op("aten::relu", {200, 50}).Runtime("cudaLaunchKernel", {210, 5}, 2);
  trace.Range("conv", {1000, 500}, {{kFma, 100}, {kAdd, 7}});
  trace.Range("relu", {1500, 500}, {{kAdd, 3}});
  return trace;
}

TEST(CountersTest, RangesBelongToLaunchesByPosition) {
  TestTrace trace = Replayed();
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[kLineup]),
            "rank,gpu,ranges,launches,lined_up,mode,counters,left_out\n"
            "0,0,2,2,2,by position,2,0\n");
  EXPECT_EQ(Csv(tables[kCounters]),
            "rank,gpu,kernel,ts_ns,dur_ns,top_op,bottom_op,op_stack,source," + std::string(kFma) +
                "," + std::string(kAdd) +
                "\n"
                "0,0,conv,1000,500,aten::conv2d,aten::cudnn_convolution,"
                "[\"aten::conv2d\", \"aten::cudnn_convolution\"],recorded,100,7\n"
                "0,0,relu,1500,500,aten::relu,aten::relu,[\"aten::relu\"],recorded,-,3\n");
  EXPECT_EQ(tables[kCounters].preview_rows, 5U);
}

TEST(CountersTest, EqualLengthsAreNoTimes) {
  TestTrace trace = Replayed();
  EXPECT_EQ(Csv(Ask(trace)[kFlops]),
            "rank,kernel,op,ranges,flops,time_ns,time_from,tflops,dram_bytes,intensity,"
            "not_counted\n"
            "0,conv,aten::cudnn_convolution,1,207,-,-,-,-,-,-\n"
            "0,relu,aten::relu,1,3,-,-,-,-,-,-\n");
}

// As many ranges as launches, but of other kernels.
TEST(CountersTest, RecordedNamesOverruleTheOrder) {
  TestTrace trace;
  trace.Launched("k0", {0, 1}, {2, 1}, {1, 7, 0}).Launched("k1", {10, 1}, {12, 3}, {2, 7, 0});
  trace.Op("aten::zero", {-1, 5}).Op("aten::one", {9, 5});
  trace.Range("k1", {10, 3}, {{kFma, 1}}).Range("k2", {20, 4}, {{kFma, 1}});
  EXPECT_EQ(LineupOf(trace), "gpu,ranges,launches,lined_up,mode\n0,2,2,1,by names\n");
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[kFlops], {"kernel", "op", "time_ns", "time_from"}),
            "kernel,op,time_ns,time_from\nk1,aten::one,3,kernel\nk2,(no operator),4,range\n");
}

TEST(CountersTest, RangesWithoutANameKeepTheirPlace) {
  TestTrace trace;
  trace.Launched("k0", {0, 1}, {2, 1}, {1, 7, 0}).Launched("k1", {10, 1}, {12, 3}, {2, 7, 0});
  trace.Range("__missing__", {10, 3}, {{kFma, 1}}).Range("__missing__", {20, 4}, {{kFma, 1}});
  EXPECT_EQ(LineupOf(trace), "gpu,ranges,launches,lined_up,mode\n0,2,2,2,by position\n");
}

// Names that agree nowhere may be written in another way: the order is all there is.
TEST(CountersTest, TimesOfKernelsOfAnotherNameAreNotTaken) {
  TestTrace trace;
  trace.Launched("k0", {0, 1}, {2, 1}, {1, 7, 0});
  trace.Range("_Z2k0v", {10, 3}, {{kFma, 1}});
  EXPECT_EQ(LineupOf(trace), "gpu,ranges,launches,lined_up,mode\n0,1,1,1,by position\n");
  EXPECT_EQ(Csv(Ask(trace)[kFlops], {"time_ns", "time_from"}), "time_ns,time_from\n3,range\n");
}

// The second launch alone was measured; and two of the three kernels of a graph, which share the
// number of their launch.
TEST(CountersTest, NumbersOfLaunchesOverruleNamesAndOrder) {
  TestTrace trace;
  trace.Op("aten::one", {0, 5}).Launched("k", {1, 1}, {10, 1}, {1, 7, 0});
  trace.Op("aten::two", {6, 5}).Launched("k", {7, 1}, {20, 2}, {2, 7, 0});
  trace.Runtime("cudaGraphLaunch", {12, 1}, 3).Kernel("a", {30, 3}, {3}).Kernel("b", {40, 4}, {3});
  trace.Kernel("a", {50, 5}, {3});
  trace.Range("k", {20, 2}, {{kFma, 1}}, 0, 2);
  trace.Range("a", {30, 3}, {{kFma, 1}}, 0, 3).Range("b", {40, 4}, {{kFma, 1}}, 0, 3);
  EXPECT_EQ(LineupOf(trace), "gpu,ranges,launches,lined_up,mode\n0,3,5,3,by correlation\n");
  EXPECT_EQ(Csv(Ask(trace)[kFlops], {"kernel", "op", "time_ns", "time_from"}),
            "kernel,op,time_ns,time_from\na,(no operator),3,kernel\nb,(no operator),4,kernel\n"
            "k,aten::two,2,kernel\n");
}

TEST(CountersTest, DeepStacksOfLongNamesAreCut) {
  TestTrace trace;
  for (int64_t depth = 0; depth < 300; ++depth) {
    trace.Op("op" + std::to_string(depth) + std::string(100, 'x'), {depth, 1000 - 2 * depth});
  }
  trace.Runtime("cudaLaunchKernel", {400, 1}, 1).Range("k", {500, 1}, {{kFma, 1}});
  const Tables tables = Ask(trace);
  const auto text = [&](std::string_view column) {
    return std::get<StringValues>(tables[kCounters].Find(column)->values)[0];
  };
  EXPECT_TRUE(text("top_op").starts_with("op0x"));
  EXPECT_TRUE(text("bottom_op").starts_with("op299x"));
  EXPECT_TRUE(text("op_stack").starts_with("[\"…\", \"op44x"));
  EXPECT_TRUE(text("op_stack").ends_with("x\", \"…\"]"));
  EXPECT_LT(text("op_stack").size(), 4200U);
}

TEST(CountersTest, SumsThatAreNoNumberAreMissing) {
  TestTrace trace;
  trace.Range("a", {0, 1}, {{kFma, 1.7e308}}).Range("a", {1, 1}, {{kFma, -1.7e308}});
  trace.Range("b", {2, 1}, {{kFma, 1}});
  trace.Range("c", {3, 1}, {{kFma, std::numeric_limits<double>::quiet_NaN()}, {kAdd, 5}});
  EXPECT_EQ(Csv(Ask(trace)[kFlops], {"kernel", "flops"}), "kernel,flops\nc,5\nb,2\na,-\n");
  EXPECT_EQ(Csv(Ask(trace)[kCounters], {"kernel", kFma}),
            "kernel," + std::string(kFma) + "\na,1.7e+308\na,-1.7e+308\nb,1\nc,-\n");
}

TEST(CountersTest, APointInTheRoofline) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 100});
  trace.Launched("counted", {10, 5}, {300, 40}, {1, 7, 0});
  trace.Launched("timed", {20, 5}, {400, 50}, {2, 7, 0});
  trace.Launched("both", {30, 5}, {500, 60}, {3, 7, 0});
  trace.Range("counted", {1000, 500},
              {{kFma, 1000}, {"gpu__time_duration.sum", 20}, {"dram__bytes.sum", 500}});
  trace.Range("timed", {1500, 700},
              {{kFma, 100}, {"dram__bytes_read.sum", 30}, {"dram__bytes_write.sum", 20}});
  trace.Range("both", {2500, 800}, {{"dram__bytes_read.sum", 30}});
  EXPECT_EQ(Csv(Ask(trace)[kFlops],
                {"kernel", "flops", "time_ns", "time_from", "tflops", "dram_bytes", "intensity"}),
            "kernel,flops,time_ns,time_from,tflops,dram_bytes,intensity\n"
            "counted,2000,20,counter,0.1,500,4\n"
            "timed,200,50,kernel,0.004,50,4\n"
            "both,-,60,kernel,-,-,-\n");
}

TEST(CountersTest, RangesOfDifferentLengthsAreTimesOfTheirOwn) {
  TestTrace trace;
  trace.Runtime("cudaLaunchKernel", {20, 5}, 1).Runtime("cudaLaunchKernel", {30, 5}, 2);
  trace.Range("k", {1000, 100}, {{kFma, 1}}).Range("k", {1100, 300}, {{kFma, 1}});
  EXPECT_EQ(Csv(Ask(trace)[kFlops], {"op", "ranges", "flops", "time_ns", "time_from"}),
            "op,ranges,flops,time_ns,time_from\n(no operator),2,4,400,range\n");
}

TEST(CountersTest, TensorInstructionsAreNamedAsNotCounted) {
  TestTrace trace = Replayed();
  trace.Range("mm", {2000, 500}, {{"sm__inst_executed_pipe_tensor.sum", 5}});
  trace.Runtime("cudaLaunchKernel", {300, 5}, 3);
  EXPECT_EQ(Csv(Ask(trace)[kFlops], {"kernel", "flops", "not_counted"}),
            "kernel,flops,not_counted\n"
            "conv,207,-\nrelu,3,-\nmm,-,sm__inst_executed_pipe_tensor.sum\n");
  TestTrace both;
  both.Range("mm", {0, 5},
             {{"sm__inst_executed_pipe_tensor.sum", 5},
              {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 4096}});
  EXPECT_EQ(Csv(Ask(both)[kFlops], {"flops", "not_counted"}), "flops,not_counted\n4096,-\n");
}

TEST(CountersTest, InstructionsCountOnce) {
  TestTrace trace;
  trace.Range("k", {0, 5}, {{kFma, 5}, {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", 5}});
  EXPECT_EQ(Csv(Ask(trace)[kFlops], {"flops"}), "flops\n10\n");
}

TEST(CountersTest, DifferentNumbersAreLinedUpByNames) {
  TestTrace trace;
  trace.Op("first", {0, 15}).Launched("a", {10, 2}, {300, 40}, {1, 7, 0});
  trace.Op("second", {20, 15}).Launched("b", {25, 2}, {400, 40}, {2, 7, 0});
  trace.Op("third", {40, 15}).Launched("a", {45, 2}, {500, 40}, {3, 7, 0});
  trace.Range("b", {1000, 5}, {{kFma, 1}}).Range("a", {1005, 5}, {{kFma, 1}});
  EXPECT_EQ(Csv(Ask(trace)[kCounters], {"kernel", "top_op"}), "kernel,top_op\nb,second\na,first\n");
  TestTrace again;
  again.Launched("a", {10, 2}, {300, 40}, {1, 7, 0}).Launched("b", {25, 2}, {400, 40}, {2, 7, 0});
  again.Range("b", {1, 5}, {}).Range("b", {2, 5}, {}).Range("c", {3, 5}, {});
  EXPECT_EQ(LineupOf(again), "gpu,ranges,launches,lined_up,mode\n0,3,2,1,by names\n");
}

TEST(CountersTest, DifferentNumbersWithoutKernelsGoAsFarAsTheOrderDoes) {
  TestTrace more_ranges = Replayed();
  more_ranges.Range("late", {2000, 500}, {});
  EXPECT_EQ(LineupOf(more_ranges), "gpu,ranges,launches,lined_up,mode\n0,3,2,2,in order\n");
  TestTrace more_launches = Replayed();
  more_launches.Runtime("cudaLaunchKernel", {300, 5}, 3);
  EXPECT_EQ(LineupOf(more_launches), "gpu,ranges,launches,lined_up,mode\n0,2,3,2,in order\n");
}

TEST(CountersTest, OfAWholeRangeTheOutermostOperatorsAreTold) {
  TestTrace trace;
  trace.Op("a \"x\"", {0, 50}).Op("inner", {5, 30});
  trace.Runtime("cudaLaunchKernel", {10, 5}, 1).Runtime("cudaLaunchKernel", {40, 5}, 2);
  trace.Op("b", {100, 50}).Runtime("cudaLaunchKernel", {110, 5}, 3);
  trace.Range("__profile__", {0, 500}, {{kFma, 10}});
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[kLineup], {"ranges", "launches", "lined_up", "mode"}),
            "ranges,launches,lined_up,mode\n1,3,0,whole range\n");
  EXPECT_EQ(Csv(tables[kCounters], {"kernel", "top_op", "bottom_op", "op_stack"}),
            "kernel,top_op,bottom_op,op_stack\n__profile__,-,-,[\"a \\\"x\\\"\", \"b\"]\n");
  EXPECT_EQ(Csv(tables[kFlops], {"op", "flops", "time_from"}),
            "op,flops,time_from\n(no operator),20,range\n");
}

TEST(CountersTest, LaunchesAreCountedOnce) {
  TestTrace driver;  // a driver call inside the runtime call, one of them tied to the kernel
  driver.Runtime("cudaLaunchKernel", {10, 20}).Runtime("cuLaunchKernel", {12, 5}, 1);
  driver.Kernel("a", {100, 5}, {1, 7, 0}).Range("a", {1000, 5}, {});
  EXPECT_EQ(LineupOf(driver), "gpu,ranges,launches,lined_up,mode\n0,1,1,1,by position\n");
  TestTrace untied;
  untied.Runtime("hipLaunchKernel", {10, 20}).Runtime("hipModuleLaunchKernel", {12, 5}, 1);
  untied.Runtime("cudaMemcpyAsync", {50, 20}, 2).Range("a", {1000, 5}, {});
  EXPECT_EQ(LineupOf(untied), "gpu,ranges,launches,lined_up,mode\n0,1,1,1,by position\n");
  TestTrace graph;
  graph.Runtime("cudaGraphLaunch", {10, 20}, 1);
  graph.Kernel("a", {100, 5}, {1, 7, 0}).Kernel("b", {200, 5}, {1, 7, 0});
  graph.Range("a", {1000, 5}, {}).Range("b", {1005, 5}, {});
  EXPECT_EQ(LineupOf(graph), "gpu,ranges,launches,lined_up,mode\n0,2,2,2,by position\n");
}

TEST(CountersTest, DevicesAreLinedUpAlone) {
  TestTrace trace;
  trace.Op("on 0", {0, 15}).Launched("a", {10, 2}, {300, 40}, {1, 7, 0});
  trace.Op("on 1", {20, 15}).Launched("a", {25, 2}, {400, 40}, {2, 7, 1});
  trace.Range("a", {1000, 5}, {{kFma, 1}}, 1).Range("a", {1005, 5}, {{kFma, 1}}, 0);
  EXPECT_EQ(Csv(Ask(trace)[kCounters], {"gpu", "top_op"}), "gpu,top_op\n0,on 0\n1,on 1\n");
  TestTrace unknown;
  unknown.Runtime("cudaLaunchKernel", {10, 5}, 1).Runtime("cudaLaunchKernel", {20, 5}, 2);
  unknown.Range("a", {1000, 5}, {}, 1).Range("a", {1005, 5}, {}, 0);
  EXPECT_EQ(LineupOf(unknown), "gpu,ranges,launches,lined_up,mode\n-,2,2,2,by position\n");
}

TEST(CountersTest, WithoutLaunchesOrOperatorsTheCountersStay) {
  TestTrace trace;
  trace.Range("a", {1000, 5}, {{kFma, 1}});
  EXPECT_EQ(LineupOf(trace), "gpu,ranges,launches,lined_up,mode\n0,1,0,0,no launches\n");
  TestTrace bare;
  bare.Runtime("cudaLaunchKernel", {10, 5}, 1).Range("a", {1000, 5}, {{kFma, 1}});
  EXPECT_EQ(Csv(Ask(bare)[kCounters], {"top_op", "op_stack", kFma}),
            "top_op,op_stack," + std::string(kFma) + "\n-,-,1\n");
}

TEST(CountersTest, CountersOfRanksAreMatchedByName) {
  TestTrace a;
  a.Range("k", {0, 5}, {{"x", 1}, {"rank", 2}});
  TestTrace b;
  b.Range("k", {0, 5}, {{"y", 3}, {"x", 4}});
  const Table table = Analyse("counters", {&a.View(0), &b.View(1)})[kCounters];
  EXPECT_EQ(Csv(table, {"rank", "x", "rank (counter)", "y"}),
            "rank,x,rank (counter),y\n0,1,2,-\n1,4,-,3\n");
}

TEST(CountersTest, TooManyCountersAreTold) {
  TestTrace trace;
  for (int i = 0; i < 600; ++i) {
    trace.Range("k", {i, 5}, {{"counter " + std::to_string(i), 1}});
  }
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[kLineup], {"counters", "left_out"}), "counters,left_out\n600,88\n");
  EXPECT_EQ(tables[kCounters].columns.size(), 9U + 512U);
}

TEST(CountersTest, SelectionGoesByTheLaunch) {
  TestTrace trace = Replayed();
  trace.Annotation("window", {150, 200});
  Params params;
  params.selection.annotation = "window";
  const Tables tables = Ask(trace, params);
  EXPECT_EQ(Csv(tables[kCounters], {"kernel"}), "kernel\nrelu\n");
  EXPECT_EQ(Csv(tables[kFlops], {"kernel", "time_from"}), "kernel,time_from\nrelu,-\n");
  params.selection = {};
  params.selection.streams = NumberRanges::Parse("0").value();
  TestTrace other = Replayed();
  EXPECT_FALSE(FindAnalysis("counters")->answer.map(other.View(), params).ok());
  params.selection = {};
  params.selection.gpus = NumberRanges::Parse("3").value();
  other = Replayed();
  EXPECT_FALSE(FindAnalysis("counters")->answer.map(other.View(), params).ok());
}

}  // namespace
}  // namespace borescope::internal
