#include "borescope/index/trace_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

using testkit::FindDevice;
using testkit::TraceMaker;

TEST(TraceIndexTest, WorkThatOverlapsOnOneStreamIsCounted) {
  TraceMaker maker;
  maker.Kernel("a", 7, {0, 10});
  maker.Kernel("touches", 7, {10, 30});
  maker.Kernel("inside", 7, {20, 5});
  maker.Kernel("still inside the one before", 7, {26, 2});
  maker.Kernel("free", 7, {40, 5});
  maker.Kernel("other stream", 8, {0, 100});
  maker.Device(DeviceKind::kMemcpy, "other device", 1, 7, {0, 100});
  const Trace trace = maker.Finish();
  const TraceIndex index = BuildIndex(trace, 1);
  EXPECT_EQ(index.diagnostics.count(Diag::kStreamOverlap), 2U);
  EXPECT_EQ(index.diagnostics.Get(Diag::kStreamOverlap).first, "inside");
}

// Waits and annotations overlap the work by nature.
TEST(TraceIndexTest, WaitsAndFramesDoNotOverlapWork) {
  TraceMaker maker;
  maker.Device(DeviceKind::kAnnotation, "step", 0, 7, {0, 100});
  maker.Kernel("k", 7, {10, 10});
  maker.Device(DeviceKind::kSync, "Stream Sync", 0, 7, {12, 50});
  maker.Kernel("l", 7, {20, 10});
  const Trace trace = maker.Finish();
  EXPECT_EQ(BuildIndex(trace, 1).diagnostics.count(Diag::kStreamOverlap), 0U);
}

TEST(TraceIndexTest, KernelsAreClassifiedByName) {
  TraceMaker maker;
  maker.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 7, {0, 10});
  maker.Kernel("ampere_sgemm_128x64_nn", 7, {20, 10});
  maker.Device(DeviceKind::kMemcpy, "Memcpy DtoD (Device -> Device)", 0, 7, {40, 10});
  maker.Op("ncclDevKernel of the host", 1, {0, 1});
  const Trace trace = maker.Finish();
  const TraceIndex index = BuildIndex(trace, 1);
  EXPECT_EQ(index.ClassOf(trace, FindDevice(trace, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")),
            KernelClass::kCollective);
  EXPECT_EQ(index.ClassOf(trace, FindDevice(trace, "ampere_sgemm_128x64_nn")), KernelClass::kGemm);
  const uint32_t host_name = trace.host().name[0].value;
  EXPECT_EQ(index.class_of_name[host_name], KernelClass::kOther);
}

// Enough device work for several pieces, of which some have no launch, some no operator but an id,
// and some begin before their launch.
Trace ManyLaunches() {
  constexpr int kLaunches = 100'000;
  TraceMaker maker;
  for (int i = 0; i < kLaunches; ++i) {
    const int64_t ts_ns = int64_t{i} * 10;
    if (i % 3 != 0) {
      maker.Op("op", i % 2, {ts_ns, 8}, {.external_id = i + 1});
    }
    maker.Call("cudaLaunchKernel", i % 2, {ts_ns + 1, 5}, i % 7 == 0 ? 0 : kLaunches - i);
    maker.Kernel("k", i % 5, {ts_ns + (i % 11 == 0 ? -50 : 5), 20},
                 {.correlation = kLaunches - i, .external_id = i % 13 + 1});
  }
  maker.Host(HostKind::kAnnotation, "ProfilerStep#3", 1, {0, kLaunches * 10});
  return maker.Finish();
}

TEST(TraceIndexThreadsTest, ThreadsChangeNothing) {
  const Trace trace = ManyLaunches();
  const TraceIndex one = BuildIndex(trace, 1);
  const TraceIndex many = BuildIndex(trace, 4);
  EXPECT_EQ(one.correlation.launch_of, many.correlation.launch_of);
  EXPECT_EQ(one.correlation.op_of, many.correlation.op_of);
  EXPECT_EQ(one.correlation.rule, many.correlation.rule);
  EXPECT_EQ(one.correlation.device_begin, many.correlation.device_begin);
  EXPECT_EQ(one.correlation.device_rows, many.correlation.device_rows);
  EXPECT_EQ(one.steps.device_step, many.steps.device_step);
  for (const Diag kind :
       {Diag::kUnlinkedDeviceEvent, Diag::kDeviceBeforeLaunch, Diag::kUnlinkedOp}) {
    EXPECT_GT(one.diagnostics.count(kind), 0U);
    EXPECT_EQ(one.diagnostics.count(kind), many.diagnostics.count(kind));
    EXPECT_EQ(one.diagnostics.Get(kind).first, many.diagnostics.Get(kind).first);
  }
  const auto& rules = one.correlation.rule;
  EXPECT_NE(std::count(rules.begin(), rules.end(), LinkRule::kExternalId), 0);
}

TEST(TraceIndexTest, AnEmptyTraceHasEmptyIndexes) {
  TraceMaker maker;
  const Trace trace = maker.Finish();
  const TraceIndex index = BuildIndex(trace, 4);
  EXPECT_TRUE(index.tree.parent.empty());
  EXPECT_TRUE(index.correlation.launch_of.empty());
  EXPECT_EQ(index.correlation.device_begin, std::vector<uint32_t>{0});
  EXPECT_TRUE(index.forward_backward.empty());
  EXPECT_TRUE(index.diagnostics.empty());
}

}  // namespace
}  // namespace borescope::internal
