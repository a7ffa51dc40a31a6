#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {
namespace {

// aten::convolution: x, w, bias, stride, padding, dilation, transposed, output_padding, groups
constexpr std::string_view kHalf =
    "c10::Half,c10::Half,,ScalarList,ScalarList,ScalarList,Scalar,ScalarList,Scalar";
constexpr std::string_view kFloat =
    "float,float,,ScalarList,ScalarList,ScalarList,Scalar,ScalarList,Scalar";

OpCost Convolution(const std::string& shapes, std::string_view types, std::string_view values) {
  return Cost("aten::convolution", {"[" + shapes + ", [], [], [], [], [], [], []]", types, values});
}

// PyProf's sample: three convolutions of a ResNet-50 at batch 64.
TEST(Conv, SampleOfPyProf) {
  constexpr std::string_view kUnit = ";;;[1, 1];[0, 0];[1, 1];False;[0, 0];1";
  const OpCost one = Convolution("[64, 64, 56, 56], [64, 64, 1, 1]", kHalf, kUnit);
  EXPECT_EQ(one.matrix_flops, 1'644'167'168U);
  EXPECT_EQ(one.bytes(), 51'388'416U);
  const OpCost wide = Convolution("[64, 64, 56, 56], [256, 64, 1, 1]", kHalf, kUnit);
  EXPECT_EQ(wide.matrix_flops, 6'576'668'672U);
  EXPECT_EQ(wide.bytes(), 128'483'328U);
  const OpCost three = Convolution("[64, 64, 56, 56], [64, 64, 3, 3]", kHalf,
                                   ";;;[1, 1];[1, 1];[1, 1];False;[0, 0];1");
  EXPECT_EQ(three.matrix_flops, 14'797'504'512U);
  EXPECT_EQ(three.bytes(), 51'453'952U);
}

TEST(Conv, Groups) {
  constexpr std::string_view kGroups = ";;;[1, 1];[1, 1];[1, 1];False;[0, 0];4";
  const OpCost four = Convolution("[64, 64, 56, 56], [64, 16, 3, 3]", kHalf, kGroups);
  EXPECT_EQ(four.matrix_flops, 3'699'376'128U);
  EXPECT_EQ(four.bytes(), 51'398'656U);
  const OpCost depthwise = Convolution("[64, 64, 56, 56], [64, 1, 3, 3]", kHalf, kGroups);
  EXPECT_EQ(depthwise.matrix_flops, 231'211'008U);
  EXPECT_EQ(depthwise.bytes(), 51'381'376U);
}

TEST(Conv, OneAndThreeDimensions) {
  const OpCost one = Convolution("[32, 3, 224], [16, 3, 3]", kFloat, ";;;[2];[0];[1];False;[0];1");
  EXPECT_EQ(one.matrix_flops, 1'022'976U);
  EXPECT_EQ(one.bytes(), 313'920U);
  EXPECT_EQ(
      Convolution("[32, 6, 224], [16, 3, 3]", kFloat, ";;;[1];[0];[1];False;[0];2").matrix_flops,
      2'045'952U);
  EXPECT_EQ(
      Convolution("[32, 3, 16, 224, 224], [16, 3, 3, 3, 3]", kFloat, ";;;[1];[0];[1];False;[0];1")
          .matrix_flops,
      57'229'369'344U);
}

TEST(Conv, Transposed) {
  const OpCost cost =
      Convolution("[64, 8, 5, 5], [8, 16, 3, 3]", kHalf, ";;;[1, 1];[0, 0];[1, 1];True;[0, 0];1");
  EXPECT_EQ(cost.matrix_flops, 3'686'400U);
  EXPECT_EQ(cost.written_bytes, 2U * 64 * 16 * 7 * 7);
  EXPECT_EQ(cost.bytes(), 128'256U);
}

TEST(Conv, LayersOfLeNetWithBias) {
  const OpCost first =
      Cost("aten::conv2d", {"[[1, 1, 32, 32], [6, 1, 5, 5], [6], [], [], [], []]",
                            "float,float,float,ScalarList,ScalarList,ScalarList,Scalar",
                            ";;;[1, 1];[0, 0];[1, 1];1"});
  EXPECT_EQ(first.matrix_flops, 235'200U);
  EXPECT_EQ(first.bytes(), 23'536U);
  const OpCost second =
      Cost("aten::conv2d", {"[[1, 6, 14, 14], [16, 6, 5, 5], [16], [], [], [], []]",
                            "float,float,float,ScalarList,ScalarList,ScalarList,Scalar",
                            ";;;[1, 1];[0, 0];[1, 1];1"});
  EXPECT_EQ(second.matrix_flops, 480'000U);
  EXPECT_EQ(second.bytes(), 20'768U);
  EXPECT_EQ(second.vector_flops, 16U * 10 * 10);
}

TEST(Conv, PaddingByName) {
  const auto padded = [](std::string_view stride, std::string_view padding) {
    const std::string values =
        ";;;[" + std::string(stride) + "];" + std::string(padding) + ";[2, 2];1";
    return Cost("aten::conv2d", {"[[1, 1, 32, 32], [6, 1, 4, 5], [6], [], [], [], []]",
                                 "float,float,float,ScalarList,,ScalarList,Scalar", values});
  };
  EXPECT_EQ(padded("1, 1", "same").matrix_flops, 2ULL * 6 * 32 * 32 * 20);
  EXPECT_EQ(padded("1, 1", R"(\"same\")").matrix_flops, 2ULL * 6 * 32 * 32 * 20);
  EXPECT_EQ(padded("1, 1", "valid").matrix_flops, 2ULL * 6 * 26 * 24 * 20);
  EXPECT_EQ(padded("2, 2", "valid").matrix_flops, 2ULL * 6 * 13 * 12 * 20);
  EXPECT_EQ(padded("2, 2", "same").status, CostStatus::kBadShapes);  // PyTorch refuses it
  EXPECT_EQ(padded("1, 1", "other").status, CostStatus::kNeedsValues);
}

TEST(Conv, EverySchemaFindsItsArguments) {
  const uint64_t flops = 2ULL * 2 * 8 * 5 * 5 * 4 * 9;  // y is [2, 8, 5, 5]
  const auto expect = [&](std::string_view name, std::string_view dims, std::string_view values) {
    const OpCost cost = Cost(name, {dims, "float,float,float,,float", values});
    EXPECT_EQ(cost.status, CostStatus::kOk) << name;
    EXPECT_EQ(cost.matrix_flops, flops) << name;
    EXPECT_EQ(cost.written_bytes, 4U * 2 * 8 * 5 * 5) << name;
  };
  constexpr std::string_view kTwo = "[[2, 4, 9, 9], [8, 4, 3, 3], [], [], [], [], [], [], []]";
  expect("aten::_convolution", kTwo, ";;;[2, 2];[1, 1];[1, 1];False;[0, 0];1");
  expect("aten::cudnn_convolution", kTwo, ";;[1, 1];[2, 2];[1, 1];1;False;False;True");
  expect("aten::miopen_convolution", kTwo, ";;;[1, 1];[2, 2];[1, 1];1;False;False");
  expect("aten::_slow_conv2d_forward", "[[2, 4, 9, 9], [8, 4, 3, 3], [], [], [], []]",
         ";;[3, 3];;[2, 2];[1, 1]");
  expect("aten::cudnn_convolution_relu", kTwo, ";;;[2, 2];[1, 1];[1, 1];1");
  expect("aten::cudnn_convolution_add_relu",
         "[[2, 4, 9, 9], [8, 4, 3, 3], [2, 8, 5, 5], [], [8], [], [], [], []]",
         ";;;1;;[2, 2];[1, 1];[1, 1];1");
}

// dy, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask
OpCost Gradient(std::string_view mask) {
  const std::string values = ";;;;[1, 1];[1, 1];[1, 1];False;[0, 0];4;" + std::string(mask);
  return Cost("aten::convolution_backward",
              {"[[64, 64, 56, 56], [64, 64, 56, 56], [64, 16, 3, 3], [], [], [], [], [], [], [], "
               "[]]",
               "c10::Half,c10::Half,c10::Half,ScalarList,ScalarList,ScalarList,ScalarList,Scalar,"
               "ScalarList,Scalar,ScalarList",
               values});
}

TEST(Conv, GradientsAreApart) {
  constexpr uint64_t kFlops = 3'699'376'128U;
  constexpr uint64_t kImage = 2ULL * 64 * 64 * 56 * 56;
  constexpr uint64_t kWeight = 2ULL * 64 * 16 * 9;
  const OpCost both = Gradient("[True, True, False]");
  EXPECT_EQ(both.direction, OpDirection::kBackward);
  EXPECT_EQ(both.matrix_flops, 2 * kFlops);
  EXPECT_EQ(both.input_gradient_flops, kFlops);
  EXPECT_EQ(both.weight_gradient_flops, kFlops);
  EXPECT_EQ(both.bytes(), 3 * kImage + 2 * kWeight);
  const OpCost input = Gradient("[True, False, False]");
  EXPECT_EQ(input.matrix_flops, kFlops);
  EXPECT_EQ(input.weight_gradient_flops, 0U);
  EXPECT_EQ(input.bytes(), 2 * kImage + kWeight);
  const OpCost weight = Gradient("[False, True, True]");
  EXPECT_EQ(weight.matrix_flops, kFlops);
  EXPECT_EQ(weight.vector_flops, kImage / 2);
  EXPECT_EQ(weight.bytes(), 2 * kImage + kWeight + 2 * 64);
}

TEST(Conv, WithoutValuesNothingIsGuessed) {
  EXPECT_EQ(Convolution("[2, 3, 8, 8], [4, 3, 3, 3]", kFloat, "").status, CostStatus::kNeedsValues);
  EXPECT_EQ(Gradient("").status, CostStatus::kNeedsValues);
  EXPECT_EQ(Gradient("[True]").status, CostStatus::kNeedsValues);
}

constexpr std::string_view kUnitOfAny = ";;;[1];[0];[1];False;[0];1";

TEST(Conv, WhatCannotBeIsSaid) {
  const auto status = [](const std::string& shapes, std::string_view values = kUnitOfAny) {
    return Convolution(shapes, kFloat, values).status;
  };
  EXPECT_EQ(status("[2, 3, 8, 8], [4, 2, 3, 3]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[2, 3, 2, 2], [4, 3, 3, 3]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[2], [4, 3, 3, 3]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[2, 3], [4, 3]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[2, 0, 8, 8], [4, 0, 3, 3]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[2, 3, 8, 8], [4, 3, 3, 3]", ";;;[0];[0];[1];False;[0];1"),
            CostStatus::kBadShapes);
  EXPECT_EQ(status("[2, 3, 8, 8], [4, 3, 3, 3]", ";;;[1];[9223372036854775807];[1];False;[0];1"),
            CostStatus::kBadShapes);
  EXPECT_EQ(status("[1000000000, 1000000000, 8, 8], [1000000000, 1000000000, 1, 1]"),
            CostStatus::kOverflow);
}

struct Draw {
  int64_t batch, in, out, groups, size, window, stride, padding, dilation;
  int64_t result() const { return (size + 2 * padding - dilation * (window - 1) - 1) / stride + 1; }
};

// Multiply-adds of a one-dimensional convolution, counted one by one, padding included.
uint64_t Count(const Draw& c) {
  uint64_t count = 0;
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t k = 0; k < c.out; ++k) {
      for (int64_t at = -c.padding; at + c.dilation * (c.window - 1) < c.size + c.padding;
           at += c.stride) {
        for (int64_t channel = 0; channel < c.in / c.groups; ++channel) {
          for (int64_t i = 0; i < c.window; ++i) {
            ++count;
          }
        }
      }
    }
  }
  return count;
}

TEST(Conv, AgreesWithCounting) {
  std::mt19937 random(5);
  const auto draw = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  };
  for (int i = 0; i < 200; ++i) {
    Draw c{draw(1, 3), 0,          0,          draw(1, 3), draw(6, 12),
           draw(1, 3), draw(1, 3), draw(0, 2), draw(1, 2)};
    c.in = c.groups * draw(1, 3);
    c.out = c.groups * draw(1, 3);
    const auto number = [](int64_t value) { return std::to_string(value); };
    const std::string shapes = "[" + number(c.batch) + ", " + number(c.in) + ", " + number(c.size) +
                               "], [" + number(c.out) + ", " + number(c.in / c.groups) + ", " +
                               number(c.window) + "]";
    const std::string values = ";;;[" + number(c.stride) + "];[" + number(c.padding) + "];[" +
                               number(c.dilation) + "];False;[0];" + number(c.groups);
    const OpCost cost = Convolution(shapes, kFloat, values);
    EXPECT_EQ(cost.matrix_flops, 2 * Count(c)) << shapes << values;
    EXPECT_EQ(cost.written_bytes, static_cast<uint64_t>(4 * c.batch * c.out * c.result()));
  }
}

}  // namespace
}  // namespace borescope::internal::opmodel
