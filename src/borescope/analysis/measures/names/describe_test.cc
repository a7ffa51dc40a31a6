#include "borescope/analysis/measures/names/describe.h"

#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

TestTrace OnAMachineOfFour() {
  TestTrace trace;
  for (int64_t id = 0; id < 4; ++id) {
    trace.meta().devices.push_back({.id = id, .name = "RTX 3090"});
  }
  return trace;
}

TEST(DescribeTest, DevicesThatWorkedAreNamed) {
  TestTrace trace = OnAMachineOfFour();
  trace.Launched("gemm", {0, 5}, {10, 5}, {1, 7, 2});
  EXPECT_EQ(DescribeUsedDevices(trace.View().trace), "1 x RTX 3090");
  EXPECT_EQ(DescribeDevices(trace.View().trace.meta()), "4 x RTX 3090");
}

TEST(DescribeTest, WithoutWorkAllAreNamed) {
  TestTrace trace = OnAMachineOfFour();
  trace.Op("aten::mm", {0, 5});
  EXPECT_EQ(DescribeUsedDevices(trace.View().trace), "4 x RTX 3090");
}

}  // namespace
}  // namespace borescope::internal
