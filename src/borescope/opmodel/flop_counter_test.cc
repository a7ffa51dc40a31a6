// Operators that PyTorch's torch.utils.flop_counter counts, too: its value by its own formula, and
// where ours differs, on purpose. docs/how-it-works/flops.md has the reasons.
#include <gtest/gtest.h>

#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {
namespace {

// FLOPs of torch/utils/flop_counter.py, written down for the shapes of a call.
constexpr uint64_t Mm(uint64_t m, uint64_t k, uint64_t n) { return m * n * 2 * k; }

constexpr uint64_t Conv(uint64_t batch, uint64_t places, uint64_t c_out, uint64_t c_in,
                        uint64_t window) {
  return places * window * batch * c_out * c_in * 2;
}

struct AttentionShape {
  uint64_t batch, heads, queries, keys, size, value_size;
};

constexpr uint64_t Sdpa(AttentionShape s) {
  const uint64_t matrices = s.batch * s.heads;
  return matrices * (Mm(s.queries, s.size, s.keys) + Mm(s.queries, s.keys, s.value_size));
}

constexpr uint64_t SdpaBackward(AttentionShape s) {
  const uint64_t matrices = s.batch * s.heads;
  return matrices * (Mm(s.queries, s.size, s.keys) + Mm(s.queries, s.value_size, s.keys) +
                     Mm(s.keys, s.queries, s.value_size) + Mm(s.queries, s.keys, s.size) +
                     Mm(s.size, s.queries, s.keys));
}

struct Case {
  std::string_view op;
  TestCall call;
  uint64_t pytorch;
};

void ExpectEqual(const Case& one) {
  const OpCost cost = Cost(one.op, one.call, {.causal = CausalMode::kFull});
  EXPECT_EQ(cost.status, CostStatus::kOk) << one.op;
  EXPECT_EQ(cost.matrix_flops, one.pytorch) << one.op << ' ' << one.call.dims;
}

TEST(FlopCounter, ProductsOfMatricesAreEqualLessTheAddend) {
  constexpr std::string_view kTwo = "float,float";
  constexpr std::string_view kThree = "float,float,float,Scalar,Scalar";
  const Case cases[] = {
      {"aten::mm", {"[[32, 64], [64, 16]]", kTwo}, Mm(32, 64, 16)},
      {"aten::mm", {"[[1, 1], [1, 1]]", kTwo}, 2},
      {"aten::mm", {"[[7, 0], [0, 5]]", kTwo}, 0},
      {"aten::addmm", {"[[16], [32, 64], [64, 16], [], []]", kThree, ",,,1,1"}, Mm(32, 64, 16)},
      {"aten::_scaled_mm",
       {"[[16, 32], [32, 64], [], [], [], [], [], []]",
        "c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float,,,Scalar,Scalar", ",,,,,,15,False"},
       Mm(16, 32, 64)},
      {"aten::bmm", {"[[4, 32, 64], [4, 64, 16]]", kTwo}, 4 * Mm(32, 64, 16)},
      {"aten::baddbmm",
       {"[[4, 32, 16], [4, 32, 64], [4, 64, 16], [], []]", kThree, ",,,1,1"},
       4 * Mm(32, 64, 16)},
  };
  for (const Case& one : cases) {
    ExpectEqual(one);
  }
}

constexpr std::string_view kConvTypes = "float,float,,,,,,,";

TEST(FlopCounter, ConvolutionsAreEqual) {
  const Case cases[] = {
      {"aten::convolution",
       {"[[2, 4, 9, 9], [8, 4, 3, 3], [], [], [], [], [], [], []]", kConvTypes,
        ";;;[2, 2];[1, 1];[1, 1];False;[0, 0];1"},
       Conv(2, 5 * 5, 8, 4, 9)},
      {"aten::_convolution",
       {"[[2, 4, 9], [8, 1, 3], [], [], [], [], [], [], []]", kConvTypes,
        ";;;[1];[0];[2];False;[0];4"},
       Conv(2, 5, 8, 1, 3)},
      {"aten::convolution",
       {"[[64, 8, 5, 5], [8, 16, 3, 3], [], [], [], [], [], [], []]", kConvTypes,
        ";;;[1, 1];[0, 0];[1, 1];True;[0, 0];1"},
       Conv(64, 5 * 5, 8, 16, 9)},
  };
  for (const Case& one : cases) {
    ExpectEqual(one);
  }
}

Case Gradients(std::string_view weight, std::string_view values, uint64_t pytorch) {
  static std::string dims;
  dims =
      "[[2, 8, 5, 5], [2, 4, 9, 9], " + std::string(weight) + ", [], [], [], [], [], [], [], []]";
  return {"aten::convolution_backward", {dims, "float,float,float,,,,,,,,", values}, pytorch};
}

// For the weight PyTorch convolves x with the gradient, batch and channels swapped.
TEST(FlopCounter, GradientsOfConvolutionsAreEqualWithoutGroups) {
  constexpr uint64_t kInput = Conv(2, 5 * 5, 8, 4, 9);
  constexpr uint64_t kWeight = Conv(4, 9, 8, 2, 5 * 5);
  ExpectEqual(Gradients("[8, 4, 3, 3]",
                        ";;;;[2, 2];[1, 1];[1, 1];False;[0, 0];1;[True, True, False]",
                        kInput + kWeight));
  ExpectEqual(Gradients("[8, 4, 3, 3]",
                        ";;;;[2, 2];[1, 1];[1, 1];False;[0, 0];1;[True, False, False]", kInput));
}

TEST(FlopCounter, GroupsAreForgottenInTheGradientOfTheWeight) {
  constexpr uint64_t kPytorch = Conv(4, 9, 8, 2, 5 * 5);
  const Case grouped = Gradients(
      "[8, 1, 3, 3]", ";;;;[2, 2];[1, 1];[1, 1];False;[0, 0];4;[False, True, False]", kPytorch);
  EXPECT_EQ(Cost(grouped.op, grouped.call).matrix_flops, kPytorch / 4);
}

constexpr AttentionShape kShape{2, 4, 32, 48, 16, 8};
constexpr std::string_view kDims =
    "[[2, 4, 32, 16], [2, 4, 48, 16], [2, 4, 48, 8], [], [], [], []]";
constexpr std::string_view kTypes = "c10::Half,c10::Half,c10::Half";

TEST(FlopCounter, AttentionIsEqualWithoutMask) {
  const Case cases[] = {
      {"aten::_scaled_dot_product_flash_attention",
       {kDims, kTypes, ";;;0.;False;False;"},
       Sdpa(kShape)},
      {"aten::_scaled_dot_product_efficient_attention",
       {kDims, kTypes, ";;;;False;0.;False"},
       Sdpa(kShape)},
      {"aten::_scaled_dot_product_flash_attention_backward",
       {"[[2, 4, 32, 8], [2, 4, 32, 16], [2, 4, 48, 16], [2, 4, 48, 8], [2, 4, 32, 8], [2, 4, 32], "
        "[], [], [], [], [], [], [], []]",
        "c10::Half,c10::Half,c10::Half,c10::Half,c10::Half,float", ";;;;;;;;32;48;0.;False;;"},
       SdpaBackward(kShape)},
  };
  for (const Case& one : cases) {
    ExpectEqual(one);
  }
}

// Exactly: query i meets the keys up to i.
TEST(FlopCounter, CausalMasksAreIgnoredUnlessAskedFor) {
  const TestCall causal{"[[1, 1, 32, 16], [1, 1, 32, 16], [1, 1, 32, 16], [], [], [], []]", kTypes,
                        ";;;0.;True;False;"};
  constexpr std::string_view kOp = "aten::_scaled_dot_product_flash_attention";
  ExpectEqual({kOp, causal, Sdpa({1, 1, 32, 32, 16, 16})});
  EXPECT_EQ(Cost(kOp, causal).matrix_flops, uint64_t{2} * (32 * 33 / 2) * (16 + 16));
}

// Keys of fewer heads (GQA) are read once; the products are as many as the heads of the queries.
TEST(FlopCounter, HeadsOfTheQueriesCount) {
  ExpectEqual({"aten::_scaled_dot_product_flash_attention",
               {"[[2, 8, 32, 16], [2, 4, 48, 16], [2, 4, 48, 16], [], [], [], []]", kTypes,
                ";;;0.;False;False;"},
               Sdpa({2, 8, 32, 48, 16, 16})});
}

TEST(FlopCounter, AttentionOnTheHostIsEqual) {
  ExpectEqual({"aten::_scaled_dot_product_flash_attention_for_cpu",
               {kDims, kTypes, ";;;0.;False;;"},
               Sdpa(kShape)});
  ExpectEqual({"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
               {"[[2, 4, 32, 8], [2, 4, 32, 16], [2, 4, 48, 16], [2, 4, 48, 8], [2, 4, 32, 8], "
                "[2, 4, 32], [], [], [], []]",
                "c10::Half,c10::Half,c10::Half,c10::Half,c10::Half,float", ";;;;;;0.;False;;"},
               SdpaBackward(kShape)});
}

constexpr std::string_view kSequenceFirst =
    "[[2, 32, 4, 16], [2, 32, 4, 16], [2, 32, 4, 16], [], [], [], [], [], [], [], [], [], [], []]";

TEST(FlopCounter, TheKernelsOwnOperatorHasSequencesBeforeHeads) {
  ExpectEqual({"aten::_flash_attention_forward",
               {kSequenceFirst, kTypes, ";;;;;32;32;0.;False;False;0.25;;;;"},
               Sdpa({2, 4, 32, 32, 16, 16})});
}

// Of this one PyTorch takes the sequences for heads.
TEST(FlopCounter, SequencesAreNoHeads) {
  constexpr uint64_t kPytorch = Sdpa({2, 32, 4, 4, 16, 16});
  const TestCall call{kSequenceFirst, kTypes, ";;;;;;;;0.;0;False;;;"};
  const OpCost cost = Cost("aten::_efficient_attention_forward", call);
  EXPECT_EQ(cost.matrix_flops, Sdpa({2, 4, 32, 32, 16, 16}));
  EXPECT_NE(cost.matrix_flops, kPytorch);
}

}  // namespace
}  // namespace borescope::internal::opmodel
