#include "borescope/output/charts/tones.h"

#include <gtest/gtest.h>

#include <set>

namespace borescope::internal {
namespace {

TEST(TonesTest, ColumnsHaveTheColourOfWhatTheyAreAbout) {
  EXPECT_EQ(ToneOf("compute_ns"), Tone::kCompute);
  EXPECT_EQ(ToneOf("exposed_comm_ns"), Tone::kComm);
  EXPECT_EQ(ToneOf("exposed_copy_ns"), Tone::kCopy);
  EXPECT_EQ(ToneOf("idle_ns"), Tone::kIdle);
  EXPECT_EQ(ToneOf("device_ns"), Tone::kDevice);
  EXPECT_EQ(ToneOf("self_device_ns"), Tone::kCompute);  // only at the begin
  EXPECT_EQ(ToneOf("unknown_ns"), Tone::kFaint);
  EXPECT_NE(ToneOf("head_ns"), ToneOf("tail_ns"));  // they stand in one bar
}

TEST(TonesTest, CausesOfTheCriticalPathHaveTheColourOfTheirSide) {
  EXPECT_EQ(ToneOf("cpu"), Tone::kHost);
  EXPECT_EQ(ToneOf("launch"), Tone::kHost);
  EXPECT_EQ(ToneOf("kernel_kernel_delay"), Tone::kDevice);
  EXPECT_EQ(ToneOf("gpu_compute"), Tone::kCompute);
  EXPECT_EQ(ToneOf("gpu_communication"), Tone::kComm);
  EXPECT_EQ(ToneOf("gpu_memory_copy"), Tone::kCopy);
  EXPECT_EQ(ToneOf("wait"), Tone::kSync);
}

TEST(TonesTest, KindsOfWorkAreKnownInAnyCase) {
  EXPECT_EQ(ToneOf("Memcpy HtoD (Pageable -> Device)"), Tone::kCopy);
  EXPECT_EQ(ToneOf("NCCL:ALL_REDUCE"), Tone::kComm);
  EXPECT_EQ(ToneOf("gemm"), Tone::kCompute);
  EXPECT_EQ(ToneOf(""), Tone::kCompute);
}

TEST(TonesTest, BarsAreWorkBeforeTheyAreValues) {
  EXPECT_EQ(BarTone("collective", "total_ns", "kernel_classes"), Tone::kComm);
  EXPECT_EQ(BarTone("rank 0", "caused_wait_ns", "stragglers"), Tone::kSync);
  EXPECT_EQ(BarTone("rank 0", "total_ns", "gaps"), Tone::kIdle);
  EXPECT_EQ(BarTone("gemm", "total_ns", "kernels"), Tone::kCompute);
}

TEST(TonesTest, LinesOfOneChartDiffer) {
  std::set<Tone> tones;
  for (size_t i = 0; i < kMostLines; ++i) {
    tones.insert(LineTone(i));
  }
  EXPECT_EQ(tones.size(), kMostLines);
  EXPECT_EQ(LineTone(kMostLines), LineTone(0));
}

TEST(TonesTest, ColoursOfDataDifferEverywhere) {
  std::set<std::string_view> light;
  std::set<std::string_view> dark;
  std::set<int> cube;
  for (auto i = static_cast<size_t>(Tone::kCompute); i <= static_cast<size_t>(Tone::kFaint); ++i) {
    const ToneRow& row = GetToneRow(static_cast<Tone>(i));
    light.insert(row.light);
    dark.insert(row.dark);
    cube.insert(row.cube);
  }
  EXPECT_EQ(light.size(), 10U);
  EXPECT_EQ(dark.size(), 10U);
  EXPECT_EQ(cube.size(), 10U);
}

}  // namespace
}  // namespace borescope::internal
