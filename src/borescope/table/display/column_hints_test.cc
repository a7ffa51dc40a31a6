#include "borescope/table/display/column_hints.h"

#include <gtest/gtest.h>

namespace borescope::internal {

namespace {

TEST(Tone, EveryOneThatAColumnCanHaveIsFoundByItsName) {
  for (int i = 0; i < static_cast<int>(Tone::kInk); ++i) {
    EXPECT_EQ(FindTone(ToneName(static_cast<Tone>(i))), static_cast<Tone>(i));
  }
  EXPECT_EQ(FindTone(ToneName(Tone::kInk)), std::nullopt);
  EXPECT_EQ(FindTone(""), std::nullopt);
}

TEST(Palette, EveryNameIsFoundAgain) {
  for (int i = 0; i < static_cast<int>(Palette::kCount); ++i) {
    EXPECT_EQ(FindPalette(PaletteName(static_cast<Palette>(i))), static_cast<Palette>(i));
  }
  EXPECT_EQ(FindPalette("of a newer version"), Palette::kNone);
}

TEST(Palette, CommunicationAndCopiesStandOutOfWorkInAnyCase) {
  EXPECT_EQ(ToneOfCell(Palette::kWork, "Memcpy HtoD (Pageable -> Device)"), Tone::kCopy);
  EXPECT_EQ(ToneOfCell(Palette::kWork, "NCCL:ALL_REDUCE"), Tone::kComm);
  EXPECT_EQ(ToneOfCell(Palette::kWork, "collective"), Tone::kComm);
  EXPECT_EQ(ToneOfCell(Palette::kWork, "gemm"), std::nullopt);
  EXPECT_EQ(ToneOfCell(Palette::kWork, "copy"), Tone::kCopy);
  EXPECT_EQ(ToneOfCell(Palette::kWork, "__amd_rocclr_copyBuffer.kd"), Tone::kCopy);
  // Casts are no copies.
  EXPECT_EQ(ToneOfCell(Palette::kWork, "aten::copy_"), std::nullopt);
  EXPECT_EQ(ToneOfCell(Palette::kWork, "aten::_to_copy"), std::nullopt);
  EXPECT_EQ(ToneOfCell(Palette::kWork, "direct_copy_kernel_cuda"), std::nullopt);
  EXPECT_EQ(ToneOfCell(Palette::kWork, ""), std::nullopt);
  EXPECT_EQ(LevelOf(1), "as usual");
  EXPECT_EQ(LevelOf(1.03), "a little longer");
  EXPECT_EQ(LevelOf(1e300), "much longer");
  EXPECT_EQ(LevelOf(0), "much shorter");
  EXPECT_EQ(ToneOfCell(Palette::kLevel, LevelOf(1.2)), Tone::kMore2);
  EXPECT_EQ(ToneOfCell(Palette::kLevel, "warm"), std::nullopt);
  EXPECT_EQ(ToneOfCell(Palette::kNone, "collective"), std::nullopt);
}

TEST(Palette, CausesHaveTheToneOfTheirSide) {
  EXPECT_EQ(ToneOfCell(Palette::kCause, "cpu"), Tone::kHost);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "data_load"), Tone::kData);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "launch"), Tone::kHost);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "kernel_kernel_delay"), Tone::kDevice);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "gpu_compute"), Tone::kCompute);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "gpu_communication"), Tone::kComm);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "gpu_memory_copy"), Tone::kCopy);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "wait"), Tone::kSync);
  EXPECT_EQ(ToneOfCell(Palette::kCause, "waiting"), std::nullopt);
}

TEST(Palette, FramesHaveTheToneOfTheirKind) {
  EXPECT_EQ(ToneOfCell(Palette::kFrame, "op"), Tone::kFlameOp);
  EXPECT_EQ(ToneOfCell(Palette::kFrame, "memset"), Tone::kFlameCopy);
  EXPECT_EQ(ToneOfCell(Palette::kFrame, "other"), std::nullopt);
}

}  // namespace

}  // namespace borescope::internal
