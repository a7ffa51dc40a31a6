#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kAllReduceKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

CollectiveArgs AllReduce(int64_t elems, int64_t group_size = 4) {
  CollectiveArgs args{"allreduce", elems, elems};
  args.group_size = group_size;
  return args;
}

TEST(CollectivesTest, BandwidthOfKernelsThatCarryTheirArguments) {
  TestTrace trace;
  trace.Kernel(kAllReduceKernel, {0, 1000}, {1, 20, 0}, AllReduce(1000));
  trace.Kernel(kAllReduceKernel, {2000, 2000}, {2, 20, 0}, AllReduce(500));
  trace.Kernel(kAllReduceKernel, {5000, 500}, {3, 20, 0}, AllReduce(250));
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0]),
            "rank,collective,group,group_size,dtype,count,bytes,total_ns,algo_gbps,bus_gbps,"
            "median_bus_gbps,best_bus_gbps,mean_ns,min_ns,max_ns,min_message_bytes,"
            "max_message_bytes,kernels,untimed,unsized,coverage,group_desc,recorded_as\n"
            "0,all_reduce,0,4,Float,3,7000,3500,2,3,3,6,1166.67,500,2000,1000,4000,3,0,0,1,"
            "default_pg,allreduce\n");
}

// The kernel belongs to the operator that launched it, however deep below.
TEST(CollectivesTest, ArgumentsOfTheOperatorWhereTheKernelHasNone) {
  TestTrace trace;
  trace.Op("c10d::allreduce_", {0, 100}).Collective(AllReduce(100), {10, 50});
  trace.Annotation("nccl:all_reduce", {12, 40});
  trace.Launched(kAllReduceKernel, {20, 5}, {100, 50}, {1, 20, 0});
  trace.Kernel("gemm", {100, 10}, {2, 7, 0});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "count", "bytes", "total_ns", "algo_gbps", "kernels"}),
            "collective,count,bytes,total_ns,algo_gbps,kernels\nall_reduce,1,400,50,8,1\n");
}

// Both carry the arguments, and an operator may start several kernels: still one call.
TEST(CollectivesTest, OneCallWithSeveralKernels) {
  TestTrace trace;
  trace.Collective(AllReduce(100), {0, 50}).Runtime("cudaLaunchKernel", {5, 5}, 1);
  trace.Runtime("cudaLaunchKernel", {15, 5}, 2);
  trace.Kernel(kAllReduceKernel, {100, 50}, {1, 20, 0}, AllReduce(100));
  trace.Kernel(kAllReduceKernel, {150, 30}, {2, 20, 0}, AllReduce(100));
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"count", "bytes", "total_ns", "min_ns", "max_ns", "kernels"}),
            "count,bytes,total_ns,min_ns,max_ns,kernels\n1,400,80,80,80,2\n");
}

TEST(CollectivesTest, TheBarrierAroundAnAllReduceIsWhatWasAskedFor) {
  TestTrace trace;
  CollectiveArgs barrier{"barrier", 0, 0, "Byte"};
  trace.Collective(barrier, {0, 50}).Collective(AllReduce(1), {5, 40});
  trace.Launched(kAllReduceKernel, {10, 5}, {100, 50}, {1, 20, 0});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "count", "bytes", "total_ns", "algo_gbps", "bus_gbps", "unsized"}),
            "collective,count,bytes,total_ns,algo_gbps,bus_gbps,unsized\nbarrier,1,-,50,-,-,1\n");
}

TEST(CollectivesTest, KernelsOfWhichNothingIsKnownCountByTheirName) {
  TestTrace trace;
  trace.Kernel("ncclDevKernel_Generic(x)", {0, 10}, {1, 20, 0});
  trace.Kernel(kAllReduceKernel, {20, 30}, {2, 20, 0});
  trace.Op("c10d::alltoall_base_", {100, 20});
  trace.Launched("ncclKernel_SendRecv_RING(x)", {105, 5}, {120, 20}, {3, 20, 0});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "group", "dtype", "count", "bytes", "total_ns", "recorded_as"}),
            "collective,group,dtype,count,bytes,total_ns,recorded_as\n"
            "all_reduce,-,-,1,-,30,-\nall_to_all,-,-,1,-,20,-\nunknown,-,-,1,-,10,-\n");
}

// Host libraries, groups of one rank, kernels after the end of the recording.
TEST(CollectivesTest, CallsWithoutAKernelCountAndHaveNoRate) {
  TestTrace trace;
  trace.Collective(AllReduce(100), {0, 50}).Collective(AllReduce(50), {100, 50});
  trace.Collective({"wait", 0, 0, "Byte"}, {200, 50});
  trace.Runtime("cudaLaunchKernel", {10, 5}, 1);
  trace.Kernel(kAllReduceKernel, {60, 100}, {1, 20, 0});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "count", "bytes", "total_ns", "algo_gbps", "untimed"}),
            "collective,count,bytes,total_ns,algo_gbps,untimed\nall_reduce,2,600,100,4,1\n");
}

TEST(CollectivesTest, MediansAreInterpolated) {
  TestTrace trace;
  trace.Kernel("ncclDevKernel_SendRecv(x)", {0, 100}, {1, 20, 0}, {"gather", 100, 100});
  trace.Kernel("ncclDevKernel_SendRecv(x)", {200, 200}, {2, 20, 0}, {"gather", 100, 100});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "group_size", "median_bus_gbps", "best_bus_gbps"}),
            "collective,group_size,median_bus_gbps,best_bus_gbps\ngather,2,1.5,2\n");
}

TEST(CollectivesTest, UnknownTypesHaveNoSize) {
  TestTrace trace;
  CollectiveArgs odd = AllReduce(100);
  odd.dtype = "Float12";
  trace.Kernel(kAllReduceKernel, {0, 10}, {1, 20, 0}, odd);
  trace.Kernel(kAllReduceKernel, {20, 0}, {2, 20, 0}, AllReduce(100));
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"dtype", "count", "bytes", "algo_gbps", "unsized"}),
            "dtype,count,bytes,algo_gbps,unsized\nFloat12,1,-,-,1\nFloat,1,400,-,0\n");
}

// Their arguments are not recorded as those of other collectives, but their tensors are.
TEST(CollectivesTest, OperatorsOfSymmetricMemoryHaveTheSizesOfTheirTensors) {
  constexpr std::string_view kMultimem = "void multimem_all_reduce_kernel<c10::BFloat16, 16>(x)";
  TestTrace trace;
  trace.Op("symm_mem::multimem_all_reduce_", {0, 100},
           {.dims = "[[1000], [], []]", .types = R"(["c10::BFloat16", "", ""])"});
  trace.Launched(kMultimem, {10, 5}, {100, 500}, {1, 20, 0});
  trace.Op("symm_mem::multimem_all_reduce_", {200, 100});
  trace.Launched(kMultimem, {210, 5}, {700, 500}, {2, 20, 0});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "dtype", "count", "bytes", "algo_gbps", "bus_gbps", "unsized"}),
            "collective,dtype,count,bytes,algo_gbps,bus_gbps,unsized\n"
            "all_reduce,BFloat16,1,2000,4,-,0\nall_reduce,-,1,-,-,-,1\n");
}

// Their tensors are those of both kernels together.
TEST(CollectivesTest, OperatorsWithSeveralKernelsHaveNoSizeForEach) {
  constexpr std::string_view kMultimem = "void multimem_all_reduce_kernel<c10::BFloat16, 16>(x)";
  TestTrace trace;
  trace.Op("symm_mem::multimem_all_reduce_", {0, 100},
           {.dims = "[[1000], [], []]", .types = R"(["c10::BFloat16", "", ""])"});
  trace.Launched(kMultimem, {10, 5}, {100, 500}, {1, 20, 0});
  trace.Launched(kMultimem, {20, 5}, {700, 500}, {2, 20, 0});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0], {"count", "bytes", "unsized"}),
            "count,bytes,unsized\n2,-,2\n");
}

// The operator has the tensor of the result, too, which the annotation inside lacks.
TEST(CollectivesTest, TheOperatorAroundAnAnnotationHasTheSize) {
  TestTrace trace;
  trace.Op("c10d::alltoall_base_", {0, 100},
           {.dims = "[[6144], [6144], []]", .types = R"(["float", "float", ""])"});
  trace.Annotation("nccl:all_to_all", {5, 50});
  trace.Launched("ncclKernel_SendRecv_RING(x)", {10, 5}, {100, 1000}, {1, 20, 0});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "dtype", "bytes", "algo_gbps", "coverage"}),
            "collective,dtype,bytes,algo_gbps,coverage\nall_to_all,Float,24576,24.576,1\n");
}

TEST(CollectivesTest, RatesCoverNinetyPercentOfTheTime) {
  TestTrace trace;
  CollectiveArgs args = AllReduce(1000);
  trace.Kernel(kAllReduceKernel, {0, 90}, {1, 20, 0}, args);
  args.in_elems = -1;
  trace.Kernel(kAllReduceKernel, {200, 11}, {2, 20, 0}, args);
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"bytes", "algo_gbps", "bus_gbps", "coverage"}),
            "bytes,algo_gbps,bus_gbps,coverage\n4000,-,-,0.891089\n");
}

// The event of the library lasts from the request to the end; the operator returns long before.
TEST(CollectivesTest, CommunicationOfHostsIsCountedByTheEventsOfItsLibrary) {
  const OpArgs floats{.dims = "[[1000]]", .types = R"(["float"])"};
  TestTrace trace;
  trace.Op("c10d::allreduce_", {0, 50}).Op("gloo:all_reduce", {20, 2000}, floats, 2);
  trace.Op("c10d::allreduce_", {100, 50}).Op("gloo:all_reduce", {3000, 4000}, floats, 3);
  trace.Op("c10d::send", {200, 50}).Op("gloo:send", {210, 1000}, floats);
  trace.Op("c10d::barrier", {300, 50}).Op("gloo:barrier", {310, 100}, {}, 2);
  // What comes out depends on the size of the group.
  trace.Op("c10d::allgather_", {400, 50}).Op("gloo:all_gather", {410, 10}, floats, 2);
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "dtype", "count", "bytes", "total_ns", "algo_gbps", "bus_gbps",
                 "kernels", "untimed", "unsized", "recorded_as"}),
            "collective,dtype,count,bytes,total_ns,algo_gbps,bus_gbps,kernels,untimed,unsized,"
            "recorded_as\n"
            "all_reduce,Float,2,8000,6000,1.33333,-,0,0,0,gloo:all_reduce\n"
            "send,Float,1,4000,1000,4,4,0,0,0,gloo:send\n"
            "barrier,-,1,-,100,-,-,0,0,1,gloo:barrier\n"
            "all_gather,Float,1,-,10,-,-,0,0,1,gloo:all_gather\n");
}

TEST(CollectivesTest, RequestsCountWhereNothingElseIsRecorded) {
  TestTrace trace;
  trace.Op("c10d::barrier", {0, 50}).Op("c10d::allreduce_", {10, 20}).Op("aten::add", {60, 5});
  trace.Op("c10d::_allgather_base_", {100, 50},
           {.dims = "[[20], [10]]", .types = R"(["float", "float"])"});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "count", "bytes", "total_ns", "untimed", "recorded_as"}),
            "collective,count,bytes,total_ns,untimed,recorded_as\n"
            "all_gather,1,80,0,1,c10d::_allgather_base_\nbarrier,1,-,0,1,c10d::barrier\n");
}

TEST(CollectivesTest, SpellingsFoldAndUnknownNamesStayApart) {
  TestTrace trace;
  trace.Kernel("ncclDevKernel_AllGather(x)", {0, 10}, {1, 20, 0}, {"allgather", 10, 40});
  trace.Kernel("ncclDevKernel_AllGather(x)", {20, 10}, {2, 20, 0}, {"_allgather_base", 10, 40});
  trace.Kernel("ncclDevKernel_Generic(x)", {40, 5}, {3, 20, 0}, {"fancy", 10, 10});
  EXPECT_EQ(Csv(Analyse("collectives", {&trace.View()})[0],
                {"collective", "count", "bytes", "bus_gbps", "recorded_as"}),
            "collective,count,bytes,bus_gbps,recorded_as\n"
            "all_gather,2,320,8,_allgather_base, allgather\nfancy,1,40,-,fancy\n");
}

TEST(CollectivesTest, BySizeAndStep) {
  TestTrace trace;
  trace.Annotation("ProfilerStep#3", {0, 100}).Annotation("ProfilerStep#4", {100, 100});
  for (const auto& [launch, elems] : {std::pair{10, 100}, {20, 50}, {110, 100}, {120, 100}}) {
    trace.Collective(AllReduce(elems), {launch, 8});
    trace.Launched(kAllReduceKernel, {launch + 2, 2}, {launch + 50, 4}, {launch, 20, 0});
  }
  const RankView& view = trace.View(2);
  Params params;
  params.by = {"size", "step"};
  EXPECT_EQ(Csv(Analyse("collectives", {&view}, params)[0],
                {"rank", "step", "collective", "message_bytes", "count", "total_ns"}),
            "rank,step,collective,message_bytes,count,total_ns\n"
            "2,3,all_reduce,200,1,4\n2,3,all_reduce,400,1,4\n2,4,all_reduce,400,2,8\n");
  params.by = {};
  params.selection.steps = NumberRanges::Parse("4").value();
  EXPECT_EQ(Csv(Analyse("collectives", {&view}, params)[0], {"count", "total_ns"}),
            "count,total_ns\n2,8\n");
}

}  // namespace
}  // namespace borescope::internal
