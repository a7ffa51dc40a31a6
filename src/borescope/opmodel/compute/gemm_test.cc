#include <gtest/gtest.h>

#include <random>
#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {
namespace {

TEST(Gemm, MmIsTwoPerMultiplyAdd) {
  const OpCost cost = Cost("aten::mm", {"[[32, 64], [64, 16]]", "float,float"});
  EXPECT_EQ(cost.status, CostStatus::kOk);
  EXPECT_EQ(cost.family, OpFamily::kGemm);
  EXPECT_EQ(cost.type, ScalarType::kFloat32);
  EXPECT_EQ(cost.matrix_flops, 2ULL * 32 * 64 * 16);
  EXPECT_EQ(cost.vector_flops, 0U);
  EXPECT_EQ(cost.read_bytes, 4ULL * (32 * 64 + 64 * 16));
  EXPECT_EQ(cost.written_bytes, 4ULL * 32 * 16);
}

TEST(Gemm, AnOutputThatIsGivenIsNotRead) {
  const OpCost cost = Cost("aten::mm", {"[[32768, 8192], [8192, 2048], [32768, 2048]]",
                                        "c10::BFloat16,c10::BFloat16,c10::BFloat16"});
  EXPECT_EQ(cost.matrix_flops, 1'099'511'627'776ULL);
  EXPECT_EQ(cost.read_bytes, 2ULL * (32768ULL * 8192 + 8192ULL * 2048));
}

// PyProf's golden vectors: the FLOPs, and bytes with what it leaves out (the addend).
TEST(Gemm, AddmmReadsItsAddend) {
  const OpCost cost = Cost("aten::addmm", {"[[256], [32, 128], [128, 256], [], []]",
                                           "float,float,float,Scalar,Scalar", ",,,1,1"});
  EXPECT_EQ(cost.matrix_flops, 2'097'152U);
  EXPECT_EQ(cost.vector_flops, 32U * 256);
  EXPECT_EQ(cost.bytes(), 180'224U + 4 * 256);
}

TEST(Gemm, FactorsOfAddmmCount) {
  const auto addmm = [](std::string_view values) {
    return Cost("aten::addmm", {"[[256], [32, 128], [128, 256], [], []]",
                                "float,float,float,Scalar,Scalar", values});
  };
  EXPECT_EQ(addmm(",,,0,1").vector_flops, 0U);
  EXPECT_EQ(addmm(",,,0,1").bytes(), 180'224U);
  EXPECT_EQ(addmm(",,,1,2").vector_flops, 2U * 32 * 256);
  EXPECT_EQ(addmm(",,,0.5,1").vector_flops, 32U * 256 + 256);
}

TEST(Gemm, BmmIsThatOfPyProf) {
  const OpCost cost = Cost("aten::bmm", {"[[4, 32, 128], [4, 128, 256]]", "c10::Half,c10::Half"});
  EXPECT_EQ(cost.matrix_flops, 8'388'608U);
  EXPECT_EQ(cost.bytes(), 360'448U);
}

TEST(Gemm, LinearWithBias) {
  const OpCost cost = Cost("aten::linear", {"[[32, 64, 128], [256, 128], [256]]",
                                            "c10::BFloat16,c10::BFloat16,c10::BFloat16"});
  EXPECT_EQ(cost.matrix_flops, 134'217'728U);
  EXPECT_EQ(cost.vector_flops, 524'288U);
  EXPECT_EQ(cost.bytes(), 1'638'912U);
  EXPECT_TRUE(cost.is_composite);
}

TEST(Gemm, LinearLayersOfLeNet) {
  EXPECT_EQ(Cost("aten::linear", {"[[1, 400], [120, 400], [120]]", "float,float,float"}).bytes(),
            194'560U);
  EXPECT_EQ(Cost("aten::linear", {"[[1, 400], [120, 400], []]", "float,float,"}).matrix_flops,
            96'000U);
}

TEST(Gemm, MatmulBroadcastsWithoutReadingTwice) {
  const OpCost cost =
      Cost("aten::matmul", {"[[4, 8, 32, 128], [8, 128, 256]]", "c10::BFloat16,c10::BFloat16"});
  EXPECT_EQ(cost.matrix_flops, 67'108'864U);
  EXPECT_EQ(cost.bytes(), 1'310'720U);
}

TEST(Gemm, VectorsAreRowsInFrontAndColumnsBehind) {
  EXPECT_EQ(Cost("aten::dot", {"[[7], [7]]", "float,float"}).matrix_flops, 14U);
  EXPECT_EQ(Cost("aten::mv", {"[[3, 7], [7]]", "float,float"}).bytes(), 4U * (21 + 7 + 3));
  EXPECT_EQ(Cost("aten::matmul", {"[[7], [2, 7, 5]]", "float,float"}).matrix_flops, 2U * 70);
  EXPECT_EQ(Cost("aten::addmv", {"[[3], [3, 7], [7]]", "float,float,float"}).vector_flops, 3U);
}

TEST(Gemm, ScaledMmReadsScalesAndWritesItsOwnType) {
  const OpCost cost =
      Cost("aten::_scaled_mm",
           {"[[16, 32], [32, 64], [], [], [], [], [], []]",
            "c10::Float8_e4m3fn,c10::Float8_e4m3fn,float,float,,,Scalar,Scalar", ",,,,,,15,False"});
  EXPECT_EQ(cost.matrix_flops, 2U * 16 * 32 * 64);
  EXPECT_EQ(cost.read_bytes, 16U * 32 + 32 * 64 + 4 + 4);
  EXPECT_EQ(cost.written_bytes, 2U * 16 * 64);
}

TEST(Gemm, APackedPairIsTwo) {
  const OpCost cost =
      Cost("aten::_scaled_mm",
           {"[[16, 32], [32, 64], [], []]",
            "c10::Float4_e2m1fn_x2,c10::Float4_e2m1fn_x2,float,float", ",,,,,,15,False"});
  EXPECT_EQ(cost.matrix_flops, 2U * 16 * 64 * 64);
}

TEST(Gemm, IntegersAddUpIn32Bits) {
  const OpCost cost = Cost("aten::_int_mm", {"[[16, 32], [32, 64]]", "signed char,signed char"});
  EXPECT_EQ(cost.written_bytes, 4U * 16 * 64);
}

TEST(Gemm, ExpertsTakeTheirRows) {
  const OpCost cost = Cost("aten::_grouped_mm", {"[[100, 64], [8, 64, 32], [8], [], []]",
                                                 "c10::BFloat16,c10::BFloat16,int,,", ""});
  EXPECT_EQ(cost.matrix_flops, 2U * 100 * 64 * 32);
  EXPECT_EQ(cost.bytes(), 2U * (100 * 64 + 8 * 64 * 32 + 100 * 32) + 4 * 8);
  const OpCost weights =
      Cost("aten::_grouped_mm", {"[[64, 100], [100, 32], [8]]", "c10::BFloat16,c10::BFloat16,int"});
  EXPECT_EQ(weights.matrix_flops, 2U * 64 * 100 * 32);
  EXPECT_EQ(weights.written_bytes, 2U * 8 * 64 * 32);
}

TEST(Gemm, SparseWeightsCountAsDense) {
  const OpCost cost = Cost("aten::_sparse_semi_structured_mm",
                           {"[[64, 32], [64, 4], [64, 16]]", "c10::Half,short int,c10::Half"});
  EXPECT_EQ(cost.matrix_flops, 2U * 64 * 64 * 16);
  EXPECT_EQ(cost.bytes(), 2U * (64 * 32 + 64 * 4 + 64 * 16 + 64 * 16));
}

TEST(Gemm, PackedWeightsHaveEightRowsInATile) {
  const OpCost cost =
      Cost("aten::_weight_int4pack_mm", {"[[5, 1024], [4, 8, 32, 4], [], [8, 32, 2]]",
                                         "c10::BFloat16,int,Scalar,c10::BFloat16", ",,128,"});
  EXPECT_EQ(cost.matrix_flops, 2U * 5 * 1024 * 32);
  EXPECT_EQ(cost.read_bytes, 2U * 5 * 1024 + 4 * 4 * 8 * 32 * 4 + 2 * 8 * 32 * 2);
}

TEST(Gemm, ComplexNumbersTakeFourTimesAsMuch) {
  EXPECT_EQ(Cost("aten::mm", {"[[2, 3], [3, 4]]", "c10::complex<float>,c10::complex<float>"})
                .matrix_flops,
            8U * 24);
}

TEST(Gemm, AnExpandedOperandIsReadOnce) {
  const OpCost cost = Cost("aten::bmm", {"[[4, 32, 128], [4, 128, 256]]", "c10::Half,c10::Half", "",
                                         "[[0, 128, 1], [32768, 256, 1]]"});
  EXPECT_EQ(cost.read_bytes, 2U * (32 * 128 + 4 * 128 * 256));
}

TEST(Gemm, WhatCannotBeIsSaid) {
  const auto status = [](std::string_view name, std::string_view dims) {
    return Cost(name, {dims, "float,float,float"}).status;
  };
  EXPECT_EQ(status("aten::mm", "[[2, 3], [4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::mm", "[[2], [2]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::mm", "[[2, 3]]"), CostStatus::kMissingShapes);
  EXPECT_EQ(status("aten::mm", "[]"), CostStatus::kMissingShapes);
  EXPECT_EQ(status("aten::bmm", "[[2, 3, 4], [3, 4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::linear", "[[2, 3], [4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::linear", "[[], [4, 5]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::matmul", "[[2, 2, 3], [3, 3, 3]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::matmul", "[[], [3]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::_grouped_mm", "[[3], [3]]"), CostStatus::kBadShapes);
  EXPECT_EQ(status("aten::mm", "[[4294967296, 4294967296], [4294967296, 1]]"),
            CostStatus::kOverflow);
  EXPECT_EQ(status("aten::mm", "[[0, 4294967296], [4294967296, 4294967296]]"),
            CostStatus::kOverflow);
  EXPECT_EQ(status("aten::mm", "[[0, 3], [3, 5]]"), CostStatus::kOk);
}

// Counts the multiply-adds of a product one by one.
TEST(Gemm, AgreesWithCounting) {
  std::mt19937 random(7);
  const auto draw = [&] { return static_cast<int64_t>(random() % 6); };
  for (int i = 0; i < 100; ++i) {
    const int64_t b = draw();
    const int64_t m = draw();
    const int64_t k = draw();
    const int64_t n = draw();
    uint64_t flops = 0;
    for (int64_t at = 0; at < b * m * n * k; ++at) {
      flops += 2;
    }
    const auto text = [](int64_t x, int64_t y, int64_t z) {
      return "[" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + "]";
    };
    const std::string dims = "[" + text(b, m, k) + ", " + text(b, k, n) + "]";
    EXPECT_EQ(Cost("aten::bmm", {dims, "float,float"}).matrix_flops, flops) << dims;
    EXPECT_EQ(Cost("aten::matmul", {dims, "float,float"}).matrix_flops, flops) << dims;
  }
}

}  // namespace
}  // namespace borescope::internal::opmodel
