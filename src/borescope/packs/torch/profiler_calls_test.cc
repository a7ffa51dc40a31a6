#include "borescope/packs/torch/profiler_calls.h"

#include <gtest/gtest.h>

namespace borescope::internal {

namespace {

int64_t Flops(std::string_view op, std::string_view dims, std::string_view values = "",
              std::string_view types = "") {
  return ProfilerFlops(op, CallArgs::Parse({dims, types, "", values}));
}

TEST(ProfilerFlopsTest, ProductsAreTwoPerMultiplyAddWithoutTheAddend) {
  EXPECT_EQ(Flops("aten::mm", "[[32, 64], [64, 16]]"), 2 * 32 * 64 * 16);
  EXPECT_EQ(Flops("aten::addmm", "[[16], [32, 64], [64, 16], [], []]"), 2 * 32 * 64 * 16);
  EXPECT_EQ(Flops("aten::bmm", "[[4, 32, 64], [4, 64, 16]]"), 4 * 2 * 32 * 64 * 16);
  EXPECT_EQ(Flops("aten::baddbmm", "[[4, 1, 16], [4, 32, 64], [4, 64, 16]]"), 4 * 2 * 32 * 64 * 16);
}

TEST(ProfilerFlopsTest, ElementsOfTheFirstArgumentCountWhateverTheyMeet) {
  EXPECT_EQ(Flops("aten::add", "[[8, 1], [16]]"), 8);
  EXPECT_EQ(Flops("aten::mul", "[[], [4]]", "", R"(["float", "float"])"), 1);
  EXPECT_EQ(Flops("aten::mul", "[[], [4]]", "", R"(["Scalar", "float"])"), 0);
  EXPECT_EQ(Flops("aten::add_", "[[8], [8]]"), 0);
  EXPECT_EQ(Flops("aten::sub", "[[8], [8]]"), 0);
}

TEST(ProfilerFlopsTest, ConvolutionsCountByTheNameOfTheOuterOperator) {
  constexpr std::string_view kDims = "[[64, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []]";
  constexpr std::string_view kValues = R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"])";
  constexpr int64_t kResNetStem = int64_t{2} * 64 * 112 * 112 * 7 * 7 * 3 * 64;
  EXPECT_EQ(Flops("aten::conv2d", kDims, kValues), kResNetStem);
  EXPECT_EQ(Flops("aten::convolution", kDims, kValues), 0);
  EXPECT_EQ(Flops("aten::conv2d", kDims), 0) << "stride and padding were not recorded";
}

// Channels of the input, not of the weight, divided by the groups: the same for a valid call.
TEST(ProfilerFlopsTest, GroupsDivideTheChannels) {
  EXPECT_EQ(Flops("aten::conv2d", "[[1, 8, 5, 5], [8, 1, 3, 3], [], [], [], [], []]",
                  R"(["", "", "", "[1, 1]", "[0, 0]", "[2, 2]", "8"])"),
            2 * 1 * 1 * 3 * 3 * 8);
}

TEST(ProfilerFlopsTest, DamagedCallsHaveNone) {
  constexpr std::string_view kValues = R"(["", "", "", "[0, 1]", "[0, 0]", "[1, 1]", "1"])";
  EXPECT_EQ(Flops("aten::conv2d", "[[1, 8, 5, 5], [8, 8, 3, 3], [], [], [], [], []]", kValues), 0);
  EXPECT_EQ(Flops("aten::conv2d", "[[1, 8, 1, 1], [8, 8, 3, 3], [], [], [], [], []]",
                  R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"])"),
            0);
  EXPECT_EQ(Flops("aten::mm", "[[4, 0], [0, 4]]"), 0);
  EXPECT_EQ(Flops("aten::mm", "[[4]]"), 0);
  EXPECT_EQ(Flops("aten::mm", "nonsense"), 0);
  EXPECT_EQ(Flops("aten::mm", ""), 0);
  EXPECT_EQ(Flops("aten::mul", "[[4000000000, 4000000000, 4000000000]]"), 0);
}

}  // namespace

}  // namespace borescope::internal
