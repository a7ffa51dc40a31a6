#include "borescope/analysis/measures/flops/roofs.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kOnVectorUnits = "ampere_sgemm_128x64_nn";
constexpr std::string_view kOnTensorCores = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nn";

OpArgs ProductOf(int64_t m, int64_t k, int64_t n) {
  const auto text = [](int64_t size) { return std::to_string(size); };
  return {.dims = "[[" + text(m) + ", " + text(k) + "], [" + text(k) + ", " + text(n) + "]]",
          .types = R"(["float", "float"])"};
}

// 494.7 TFLOPS of TF32, 3350 GB/s.
void OnH100(TestTrace& trace) {
  DeviceInfo device;
  device.id = 0;
  device.name = "NVIDIA H100 80GB HBM3";
  device.compute_major = 9;
  device.multiprocessors = 132;
  trace.meta().devices = {device};
  trace.meta().vendor = Vendor::kNvidia;
}

TensorCoreBound BoundOf(TestTrace& trace) {
  Result<TensorCoreBound> bound = BoundOfTensorCores(trace.View(), {});
  EXPECT_TRUE(bound.ok());
  return std::move(*bound);
}

TEST(TensorCoreBoundTest, NoFasterThanThePeakOrTheMemory) {
  TestTrace trace;
  OnH100(trace);
  trace.Op("aten::mm", {0, 100}, ProductOf(4096, 4096, 4096));
  trace.Launched(kOnVectorUnits, {10, 10}, {1'000, 2'500'000}, {1});
  trace.Op("aten::mm", {200, 100}, ProductOf(1, 8192, 8192));
  trace.Launched(kOnVectorUnits, {210, 10}, {3'000'000, 160'000}, {2});
  trace.Op("aten::mm", {400, 100}, ProductOf(4096, 4096, 4096));
  trace.Launched(kOnTensorCores, {410, 10}, {4'000'000, 250'000}, {3});
  const TensorCoreBound bound = BoundOf(trace);
  EXPECT_NEAR(bound.share[0], 2.0 * 4096 * 4096 * 4096 / 494.7e12 / 2.5e-3, 1e-6);
  EXPECT_NEAR(bound.share[1], 4.0 * (8192 + 8192.0 * 8192 + 8192) / 3350e9 / 160e-6, 1e-5);
  EXPECT_EQ(bound.share[2], 1);
  EXPECT_EQ(bound.products_ns, 2'660'000);
  EXPECT_EQ(bound.known_ns, 2'660'000);
  EXPECT_TRUE(bound.is_known());
}

TEST(TensorCoreBoundTest, NothingIsSaidWhereCostsAreNotKnown) {
  TestTrace trace;
  OnH100(trace);
  trace.Op("aten::mm", {0, 100});
  trace.Launched(kOnVectorUnits, {10, 10}, {1'000, 300'000}, {1});
  trace.Op("aten::mm", {200, 100}, ProductOf(4096, 4096, 4096));
  trace.Launched(kOnVectorUnits, {210, 10}, {1'000'000, 2'500'000}, {2});
  const TensorCoreBound bound = BoundOf(trace);
  EXPECT_EQ(bound.share[0], 0);  // at best
  EXPECT_EQ(bound.products_ns, 2'800'000);
  EXPECT_EQ(bound.known_ns, 2'500'000);
  EXPECT_FALSE(bound.is_known());
}

TEST(TensorCoreBoundTest, OfDevicesWithoutTf32NothingIsToBeWon) {
  TestTrace trace;
  OnH100(trace);
  trace.meta().devices[0].compute_major = 7;
  trace.Op("aten::mm", {0, 100}, ProductOf(4096, 4096, 4096));
  trace.Launched(kOnVectorUnits, {10, 10}, {1'000, 2'500'000}, {1});
  const TensorCoreBound bound = BoundOf(trace);
  EXPECT_EQ(bound.products_ns, 0);
  EXPECT_EQ(bound.share[0], 1);
  EXPECT_FALSE(bound.is_known());
}

}  // namespace

}  // namespace borescope::internal
