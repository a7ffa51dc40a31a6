#include <gtest/gtest.h>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kCountsHead =
    "kernel,count,calls,short_kernels,long_kernels,long_calls,long_delays,host_ns\n";
constexpr std::string_view kLinksHead =
    "rank,launches,linked,launches_without_work,works,linked_works,works_without_launch\n";

std::string Counts(const Tables& tables) {
  return Csv(tables[1], {"kernel", "count", "calls", "short_kernels", "long_kernels", "long_calls",
                         "long_delays", "host_ns"});
}

Params Limits(int64_t long_call, int64_t long_delay, int64_t long_kernel) {
  Params params;
  params.values = {{kLongCallParam.name, long_call, ""},
                   {kLongDelayParam.name, long_delay, ""},
                   {kLongKernelParam.name, long_kernel, ""}};
  return params;
}

TEST(LaunchesTest, ACallAndItsWork) {
  TestTrace trace;
  trace.Launched("gemm", {100, 10}, {130, 50}, {7, 3, 1});
  EXPECT_EQ(Csv(Analyse("launches", {&trace.View(2)})[0]),
            "rank,gpu,stream,correlation,api,host_ns,device_ns,delay_ns,kernel,kind,ordinal,works,"
            "begin_ns\n"
            "2,1,3,7,cudaLaunchKernel,10,50,20,gemm,kernel,0,1,100\n");
}

TEST(LaunchesTest, WorkThatStartsDuringOrBeforeItsCallIsNotLate) {
  TestTrace trace;
  trace.Launched("during", {100, 10}, {105, 50}, {1, 7, 0});
  trace.Launched("before", {200, 10}, {190, 50}, {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("launches", {&trace.View()})[0], {"kernel", "delay_ns"}),
            "kernel,delay_ns\nduring,0\nbefore,0\n");
}

TEST(LaunchesTest, RowsAreInOrderOfTheCalls) {
  TestTrace trace;
  trace.Runtime("cudaLaunchKernel", {300, 5}, 1, 1).Kernel("a", {400, 5}, {1, 7, 0});
  trace.Runtime("cudaLaunchKernel", {200, 5}, 2, 2).Kernel("b", {500, 5}, {2, 7, 0});
  trace.Runtime("cudaLaunchKernel", {300, 5}, 3, 2).Kernel("c", {350, 5}, {3, 7, 0});
  EXPECT_EQ(Csv(Analyse("launches", {&trace.View()})[0], {"kernel"}), "kernel\nb\na\nc\n");
}

TEST(LaunchesTest, EveryVendorsCalls) {
  const std::string_view calls[] = {"cudaLaunchKernel",
                                    "cudaLaunchKernelExC",
                                    "cuLaunchKernel",
                                    "cuLaunchKernelEx",
                                    "hipLaunchKernel",
                                    "hipExtModuleLaunchKernel",
                                    "hipModuleLaunchKernel",
                                    "cudaGraphLaunch",
                                    "hipGraphLaunch",
                                    "cudaMemcpyAsync",
                                    "cudaMemsetAsync",
                                    "hipMemcpyWithStream",
                                    "zeCommandListAppendLaunchKernel",
                                    "urEnqueueKernelLaunch",
                                    "runFunction - job_prep_and_submit_for_execution"};
  for (const std::string_view call : calls) {
    TestTrace trace;
    trace.Runtime(call, {0, 5}, 1).Kernel("k", {10, 5}, {1, 0, 0}).Runtime(call, {20, 5}, 2);
    const Tables tables = Analyse("launches", {&trace.View()});
    EXPECT_EQ(Csv(tables[0], {"api", "delay_ns"}), "api,delay_ns\n" + std::string(call) + ",5\n");
    EXPECT_EQ(Csv(tables[2]), std::string(kLinksHead) + "0,2,1,1,1,1,0\n") << call;
  }
}

TEST(LaunchesTest, KindsOfWork) {
  TestTrace trace;
  trace.Runtime("cudaMemcpyAsync", {0, 5}, 1);
  trace.Memcpy("Memcpy HtoD (Pageable -> Device)", {10, 5}, {1, 7, 0});
  trace.Launched("k", {20, 5}, {30, 5}, {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("launches", {&trace.View()})[0], {"kernel", "kind"}),
            "kernel,kind\nMemcpy HtoD (Pageable -> Device),memcpy\nk,kernel\n");
}

// One graph with three kernels on two streams, and a kernel of its own.
TestTrace Graph() {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {0, 30}, 1);
  trace.Kernel("a", {200, 20}, {1, 7, 0}).Kernel("b", {150, 9}, {1, 9, 0});
  trace.Kernel("a", {160, 10}, {1, 9, 0}).Launched("a", {100, 5}, {300, 4}, {2, 7, 0});
  return trace;
}

TEST(LaunchesTest, AGraphLaunchHasARowForEveryKernel) {
  TestTrace trace = Graph();
  const Tables tables = Analyse("launches", {&trace.View()});
  EXPECT_EQ(Csv(tables[0], {"correlation", "ordinal", "host_ns", "device_ns", "delay_ns"}),
            "correlation,ordinal,host_ns,device_ns,delay_ns\n"
            "1,0,30,9,120\n1,1,30,10,130\n1,2,30,20,170\n2,0,5,4,195\n");
  EXPECT_EQ(Csv(tables[2]), std::string(kLinksHead) + "0,2,2,0,4,4,0\n");
}

// The call of the graph counts with "b", the work it started first. Each of its three kernels has
// a third of the call, 10 ns: only "b" is shorter.
TEST(LaunchesTest, AGraphLaunchIsOneCall) {
  TestTrace trace = Graph();
  EXPECT_EQ(Counts(Analyse("launches", {&trace.View()}, Limits(29, 119, 10))),
            std::string(kCountsHead) + "b,1,1,1,0,1,1,30\na,3,1,1,1,0,1,5\n");
}

// The first work of the graph is on another stream.
TEST(LaunchesTest, AGraphCountsWithItsFirstSelectedWork) {
  TestTrace trace;
  trace.Runtime("cudaGraphLaunch", {0, 30}, 1).Kernel("a", {50, 5}, {1, 7, 0});
  trace.Kernel("b", {60, 5}, {1, 8, 0}).Kernel("b", {70, 5}, {1, 8, 0});
  Params params;
  params.selection.streams = NumberRanges::Parse("8").value();
  const Tables tables = Analyse("launches", {&trace.View()}, params);
  EXPECT_EQ(Csv(tables[0], {"kernel", "ordinal"}), "kernel,ordinal\nb,1\nb,2\n");
  EXPECT_EQ(Csv(tables[1], {"kernel", "count", "calls", "host_ns", "delay_ns"}),
            "kernel,count,calls,host_ns,delay_ns\nb,2,1,30,30\n");
}

TEST(LaunchesTest, LimitsAreExclusive) {
  TestTrace trace;
  trace.Launched("k", {0, 10}, {30, 10}, {1, 7, 0});
  const RankView& view = trace.View();
  EXPECT_EQ(Counts(Analyse("launches", {&view}, Limits(10, 20, 10))),
            std::string(kCountsHead) + "k,1,1,0,0,0,0,10\n");
  EXPECT_EQ(Counts(Analyse("launches", {&view}, Limits(9, 19, 9))),
            std::string(kCountsHead) + "k,1,1,0,1,1,1,10\n");
}

TEST(LaunchesTest, SummariesOfRanksMerge) {
  TestTrace a;
  a.Launched("k", {0, 10}, {30, 10}, {1, 7, 0}).Launched("l", {2, 40}, {52, 10}, {2, 7, 0});
  TestTrace b;
  b.Launched("k", {0, 20}, {20, 30}, {1, 7, 0});
  const Tables tables = Analyse("launches", {&b.View(1), &a.View(0)});
  EXPECT_EQ(Csv(tables[1], {"kernel", "count", "host_ns", "device_ns", "delay_ns", "mean_host_ns",
                            "mean_device_ns", "mean_delay_ns"}),
            "kernel,count,host_ns,device_ns,delay_ns,mean_host_ns,mean_device_ns,mean_delay_ns\n"
            "l,1,40,10,10,40,10,10\nk,2,30,40,20,15,20,10\n");
  EXPECT_EQ(Csv(tables[0], {"rank", "kernel"}), "rank,kernel\n0,k\n0,l\n1,k\n");
  EXPECT_EQ(Csv(tables[2], {"rank", "linked"}), "rank,linked\n0,2\n1,1\n");
}

TEST(LaunchesTest, WhatHasNoCounterpartIsCounted) {
  TestTrace trace;
  trace.Launched("k", {0, 10}, {30, 10}, {1, 7, 0});
  trace.Runtime("cudaLaunchKernel", {20, 5}, 2);  // work not recorded
  trace.Runtime("cudaMemsetAsync", {30, 5});      // no number
  trace.Runtime("cudaStreamSynchronize", {40, 5}, 3);
  trace.Kernel("orphan", {50, 10}, {77, 7, 0}).Memcpy("no number", {60, 10}, {kMissing, 7, 0});
  trace.Sync("Stream Sync", {40, 9}, {3, 7, 0});
  const Tables tables = Analyse("launches", {&trace.View()});
  EXPECT_EQ(Csv(tables[2]), std::string(kLinksHead) + "0,3,1,2,3,1,2\n");
}

// cudaLaunchKernelExC calls cuLaunchKernelEx with the same number: one launch.
TEST(LaunchesTest, AWrapperAroundALaunchIsNoSecondLaunch) {
  TestTrace trace;
  trace.Runtime("cudaLaunchKernelExC", {0, 20}, 1).Runtime("cuLaunchKernelEx", {5, 10}, 1);
  trace.Kernel("k", {40, 5}, {1, 7, 0});
  const Tables tables = Analyse("launches", {&trace.View()});
  EXPECT_EQ(Csv(tables[0], {"api", "host_ns"}), "api,host_ns\ncuLaunchKernelEx,10\n");
  EXPECT_EQ(Csv(tables[2]), std::string(kLinksHead) + "0,1,1,0,1,1,0\n");
}

TEST(LaunchesTest, WindowsSelectByTheCall) {
  TestTrace trace;
  trace.Annotation("part", {0, 50}).Launched("in", {10, 5}, {100, 5}, {1, 7, 0});
  trace.Launched("out", {60, 5}, {70, 5}, {2, 7, 0}).Runtime("cudaLaunchKernel", {20, 5}, 3);
  trace.Runtime("cudaLaunchKernel", {80, 5}, 4).Kernel("orphan", {30, 5}, {99, 7, 0});
  Params params;
  params.selection.annotation = "part";
  const Tables tables = Analyse("launches", {&trace.View()}, params);
  EXPECT_EQ(Csv(tables[0], {"kernel"}), "kernel\nin\n");
  EXPECT_EQ(Csv(tables[2]), std::string(kLinksHead) + "0,2,1,1,2,1,1\n");
}

// Ordinals are those of the whole call.
TEST(LaunchesTest, StreamsSelectByTheWork) {
  TestTrace trace = Graph();
  Params params;
  params.selection.streams = NumberRanges::Parse("7").value();
  const Tables tables = Analyse("launches", {&trace.View()}, params);
  EXPECT_EQ(Csv(tables[0], {"stream", "correlation", "ordinal", "works"}),
            "stream,correlation,ordinal,works\n7,1,2,3\n7,2,0,1\n");
  EXPECT_EQ(Csv(tables[1], {"kernel", "count", "calls"}), "kernel,count,calls\na,2,2\n");
}

TEST(LaunchesTest, MeansOfNoCallsAreMissing) {
  TestTrace trace = Graph();
  Params params;
  params.selection.streams = NumberRanges::Parse("9").value();
  const Tables tables = Analyse("launches", {&trace.View()}, params);
  EXPECT_EQ(Csv(tables[1], {"kernel", "calls", "mean_host_ns", "mean_device_ns"}),
            "kernel,calls,mean_host_ns,mean_device_ns\nb,1,30,9\na,0,-,10\n");
}

TEST(LaunchesTest, NothingLaunched) {
  TestTrace trace;
  trace.Op("f", {0, 10});
  const Tables tables = Analyse("launches", {&trace.View()});
  EXPECT_EQ(tables[0].rows(), 0u);
  EXPECT_EQ(tables[0].preview_rows, 20u);
  EXPECT_EQ(tables[1].rows(), 0u);
  EXPECT_EQ(Csv(tables[2]), std::string(kLinksHead) + "0,0,0,0,0,0,0\n");
}

}  // namespace
}  // namespace borescope::internal
