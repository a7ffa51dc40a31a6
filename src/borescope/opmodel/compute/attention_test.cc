#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {
namespace {

constexpr std::string_view kTypes = "c10::BFloat16,c10::BFloat16,c10::BFloat16";
constexpr std::string_view kShapes =
    "[[2, 32, 4096, 128], [2, 8, 4096, 128], [2, 8, 4096, 128], [], [], [], []]";

OpCost Flash(std::string_view causal, CausalMode mode = CausalMode::kExact) {
  const std::string values = ";;;0.;" + std::string(causal) + ";False;";
  return Cost("aten::_scaled_dot_product_flash_attention", {kShapes, kTypes, values},
              {.causal = mode});
}

TEST(Attention, ForwardWithFewerKeyHeads) {
  const OpCost full = Flash("False");
  EXPECT_EQ(full.matrix_flops, 549'755'813'888U);
  EXPECT_EQ(full.bytes(), 168'820'736U);
  EXPECT_EQ(full.vector_flops, 5ULL * 2 * 32 * 4096 * 4096);
  EXPECT_FALSE(full.is_lower_bound);
}

TEST(Attention, CausalModes) {
  EXPECT_EQ(Flash("True").matrix_flops, 274'945'015'808U);
  EXPECT_EQ(Flash("True", CausalMode::kHalf).matrix_flops, 274'877'906'944U);
  EXPECT_EQ(Flash("True", CausalMode::kFull).matrix_flops, 549'755'813'888U);
  EXPECT_EQ(Flash("").status, CostStatus::kNeedsValues);
}

TEST(Attention, BackwardIsFiveProducts) {
  const OpCost cost =
      Cost("aten::_scaled_dot_product_flash_attention_backward",
           {"[[2, 32, 4096, 128], [2, 32, 4096, 128], [2, 8, 4096, 128], [2, 8, 4096, 128], "
            "[2, 32, 4096, 128], [2, 32, 4096], [], [], [], [], [], [], [], []]",
            "c10::BFloat16,c10::BFloat16,c10::BFloat16,c10::BFloat16,c10::BFloat16,float",
            ";;;;;;;;4096;4096;0.;False;;"});
  EXPECT_EQ(cost.matrix_flops, 1'374'389'534'720U);
  EXPECT_EQ(cost.bytes(), 337'641'472U);
  EXPECT_EQ(cost.direction, OpDirection::kBackward);
}

TEST(Attention, TheKernelsOwnOperatorHasSequencesFirst) {
  const OpCost cost = Cost(
      "aten::_flash_attention_forward",
      {"[[8, 4096, 16, 128], [8, 4096, 16, 128], [8, 4096, 16, 128], [], [], [], [], [], [], [], "
       "[], [], [], [], []]",
       kTypes, ";;;;;4096;4096;0.;False;False;0.088388347648318433;;;;"});
  EXPECT_EQ(cost.matrix_flops, 1'099'511'627'776U);
}

TEST(Attention, SequencesOfManyLengthsAreALowerBound) {
  const auto varlen = [](std::string_view causal) {
    const std::string values = ";;;;;64;64;0.;" + std::string(causal) + ";False;;;";
    return Cost("aten::_flash_attention_forward",
                {"[[128, 4, 32], [128, 4, 32], [128, 4, 32], [3], [3], [], [], [], [], [], [], "
                 "[], []]",
                 "c10::Half,c10::Half,c10::Half,int,int", values});
  };
  EXPECT_TRUE(varlen("False").is_lower_bound);
  EXPECT_EQ(varlen("False").matrix_flops, 2ULL * 4 * 64 * (2 * 64 * 64));
  EXPECT_EQ(varlen("True").matrix_flops, 2ULL * 4 * 64 * (2 * 64 * 65 / 2));
}

// 11 queries and 9 keys: 5 and 4 in one sequence, 2 and 2, 2 and 2, 2 and 1 in the others.
TEST(Attention, RestsOfLengthsAreNotLost) {
  const auto matrix_flops = [](int64_t longest_query, int64_t longest_key) {
    const std::string values =
        fmt::format(";;;;;{};{};0.;False;False;;;", longest_query, longest_key);
    return Cost("aten::_flash_attention_forward",
                {"[[11, 4, 32], [9, 4, 32], [9, 4, 32], [5], [5], [], [], [], [], [], [], [], []]",
                 "c10::Half,c10::Half,c10::Half,int,int", values})
        .matrix_flops;
  };
  EXPECT_EQ(matrix_flops(5, 4), 2ULL * 4 * 64 * (5 * 4 + 2 * 2 + 2 * 2 + 2 * 1));
  EXPECT_EQ(matrix_flops(4, 3), 2ULL * 4 * 64 * (4 * 3 + 3 * 2 + 2 * 2 + 2 * 2));
}

TEST(Attention, WhatCannotBeIsSaid) {
  const auto status = [](std::string_view dims) {
    return Cost("aten::_scaled_dot_product_flash_attention", {dims, kTypes, ";;;0.;False;False;"})
        .status;
  };
  EXPECT_EQ(status("[[2, 3, 8, 4], [2, 2, 8, 4], [2, 2, 8, 4], [], []]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[[2, 2, 8, 4], [2, 0, 8, 4], [2, 0, 8, 4], [], []]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[[2, 2, 8, 4], [2, 2, 8, 5], [2, 2, 8, 4], [], []]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[[8, 4], [8, 4], [8, 4], [], []]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("[[2, 2, 8, 4], [2, 2, 8, 4]]"), CostStatus::kMissingShapes);
  EXPECT_EQ(status("[[1, 2147483647, 2147483647, 64], [1, 2147483647, 2147483647, 64], "
                   "[1, 2147483647, 2147483647, 64], [], []]"),
            CostStatus::kOverflow);
}

struct Draw {
  int64_t queries, keys, left, right;
  bool is_causal;
};

// The pairs that a mask leaves, counted one by one. Bottom right: the last query sees the last key.
uint64_t Count(const Draw& draw, bool is_bottom_right) {
  const int64_t shift = is_bottom_right ? draw.keys - draw.queries : 0;
  const int64_t right = draw.is_causal ? 0 : draw.right;
  uint64_t pairs = 0;
  for (int64_t query = 0; query < draw.queries; ++query) {
    for (int64_t key = 0; key < draw.keys; ++key) {
      const int64_t distance = key - (query + shift);
      pairs += (right < 0 || distance <= right) && (draw.left < 0 || distance >= -draw.left);
    }
  }
  return pairs;
}

std::string ShapeOf(int64_t length) { return "[1, " + std::to_string(length) + ", 1, 1]"; }

TEST(Attention, AgreesWithCounting) {
  std::mt19937 random(3);
  const auto draw = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  };
  for (int i = 0; i < 500; ++i) {
    const Draw at{draw(0, 12), draw(0, 12), draw(-1, 6), draw(-1, 6), draw(0, 1) == 1};
    const std::string dims = "[" + ShapeOf(at.queries) + ", " + ShapeOf(at.keys) + ", " +
                             ShapeOf(at.keys) + ", [], [], [], [], [], [], [], [], [], []]";
    const std::string values = ";;;;;;;0.;" + std::string(at.is_causal ? "True" : "False") +
                               ";False;;" + std::to_string(at.left) + ";" +
                               std::to_string(at.right);
    EXPECT_EQ(Cost("aten::_flash_attention_forward", {dims, kTypes, values}).matrix_flops,
              4 * Count(at, true))
        << dims << values;
    const std::string mask = ";;;;;;;;0.;" + std::string(at.is_causal ? "1" : "0") + ";False";
    const Draw no_window{at.queries, at.keys, -1, -1, at.is_causal};
    EXPECT_EQ(Cost("aten::_efficient_attention_forward", {dims, kTypes, mask}).matrix_flops,
              4 * Count(no_window, false))
        << dims << mask;
  }
}

// The third version of FlashAttention: what hides the lengths of keys makes the cost unknown.
TEST(Attention, OfTheThirdVersion) {
  const auto attention = [](std::string_view pages) {
    const std::string dims =
        "[[2, 32, 4, 16], [2, 32, 4, 16], [2, 32, 4, 16], [], [], [], [], [], "
        "[], [], [], [], [], [], " +
        std::string(pages) + ", [], [], [], [], [], [], [], [], [], [], [], []]";
    return Cost("flash_attn_3::fwd", {dims, "c10::Half,c10::Half,c10::Half,,,,,,,,,,,,int",
                                      ",,,,,,,,,,,,,,,,,,,,,,,0.25,False,-1,-1"});
  };
  // int with no dimensions is a single element: a tensor.
  EXPECT_EQ(attention("[2, 8]").status, CostStatus::kDependsOnData);
  const OpCost without =
      Cost("flash_attn_3::fwd",
           {"[[2, 32, 4, 16], [2, 32, 4, 16], [2, 32, 4, 16], [], [], [], [], [], [], [], [], [], "
            "[], [], [], [], [], [], [], [], [], [], [], [], [], [], []]",
            "c10::Half,c10::Half,c10::Half", ",,,,,,,,,,,,,,,,,,,,,,,0.25,True,-1,-1"});
  EXPECT_EQ(without.matrix_flops, 2U * 2 * 4 * (32 * 33 / 2) * (16 + 16));
}

TEST(Attention, OfXformers) {
  EXPECT_EQ(
      Cost("xformers_flash::flash_fwd",
           {"[[2, 32, 4, 16], [2, 32, 4, 16], [2, 32, 4, 16], [], [], [], [], [], [], [], [], "
            "[], [], []]",
            "c10::Half,c10::Half,c10::Half", ",,,,,,32,32,0.,0.25,False,-1,-1,True"})
          .matrix_flops,
      2U * 2 * 4 * 32 * 32 * (16 + 16));
}

}  // namespace
}  // namespace borescope::internal::opmodel
