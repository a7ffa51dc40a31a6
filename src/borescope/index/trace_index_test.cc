#include "borescope/index/trace_index.h"

#include <gtest/gtest.h>

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
