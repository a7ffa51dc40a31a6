#include <gtest/gtest.h>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {
namespace {

struct Expected {
  uint64_t flops, bytes;
};

void Expect(std::string_view name, const TestCall& call, Expected expected) {
  const OpCost cost = Cost(name, call);
  EXPECT_EQ(cost.status, CostStatus::kOk) << name << " " << call.dims;
  EXPECT_EQ(cost.vector_flops, expected.flops) << name << " " << call.dims;
  EXPECT_EQ(cost.bytes(), expected.bytes) << name << " " << call.dims;
}

TEST(LinearAlgebra, Factorisations) {
  Expect("aten::linalg_cholesky_ex", {"[[6, 6], [], []]", "float,Scalar,Scalar"}, {72, 288});
  Expect("aten::linalg_lu_factor_ex", {"[[5, 6, 6], [], []]", "float,Scalar,Scalar"},
         {5 * 144, 5 * (2 * 144 + 24)});
  // 2 m n^2 - 2 n^3 / 3; Q is 9 x 6
  Expect("aten::linalg_qr", {"[[9, 6], []]", "double,"}, {2 * 9 * 36 - 144, 8 * (54 + 54 + 36)});
  EXPECT_EQ(Cost("aten::linalg_cholesky_ex", {"[[5, 6]]", "float"}).status, CostStatus::kBadShapes);
}

TEST(LinearAlgebra, Solutions) {
  Expect("aten::linalg_solve_triangular",
         {"[[6, 6], [6, 2], [], [], []]", "float,float,Scalar,Scalar,Scalar"},
         {72, 4 * (36 + 12 + 12)});
  Expect("aten::cholesky_solve", {"[[6, 2], [6, 6], []]", "float,float,Scalar"},
         {144, 4 * (36 + 12 + 12)});
  Expect("aten::linalg_lu_solve",
         {"[[6, 6], [6], [6, 2], [], []]", "float,int,float,Scalar,Scalar"},
         {144, 4 * (36 + 12 + 12)});
}

TEST(LinearAlgebra, FourierTransforms) {
  // 5 n log2(n) of 16 complex numbers, 8 of them
  Expect("aten::_fft_c2c",
         {"[[8, 16], [], [], []]", "c10::complex<float>,ScalarList,Scalar,Scalar", ";[1];0;True"},
         {8 * 5 * 16 * 4, 2 * 8 * 128});
  Expect("aten::_fft_r2c",
         {"[[8, 16], [], [], []]", "float,ScalarList,Scalar,Scalar", ";[-1];0;True"},
         {8 * 5 * 16 * 4 / 2, 4 * 128 + 8 * 8 * 9});
  Expect("aten::_fft_c2r",
         {"[[8, 9], [], [], []]", "c10::complex<float>,ScalarList,Scalar,Scalar", ";[1];0;16"},
         {8 * 5 * 16 * 4 / 2, 8 * 8 * 9 + 4 * 128});
  EXPECT_EQ(Cost("aten::_fft_c2c",
                 {"[[8], [], [], []]", "c10::complex<float>,ScalarList,Scalar,Scalar", ";[3];0;"})
                .status,
            CostStatus::kBadShapes);
}

TEST(Padding, ByWhatIsInside) {
  Expect("aten::reflection_pad2d", {"[[2, 3, 8, 8], []]", "float,ScalarList", ";[1, 1, 2, 2]"},
         {0, 4 * 6 * (64 + 12 * 10)});
  Expect("aten::replication_pad1d_backward",
         {"[[2, 3, 10], [2, 3, 8], []]", "float,float,ScalarList", ";;[1, 1]"},
         {60, 4 * (60 + 48)});
  Expect("aten::upsample_bilinear2d_backward",
         {"[[1, 6, 14, 14], [], [], [], [], []]", "float,ScalarList,ScalarList,Scalar,,",
          ";[14, 14];[1, 6, 7, 7];False;;"},
         {12 * 6 * 196, 4 * 6 * (196 + 49)});
  EXPECT_EQ(Cost("aten::reflection_pad1d", {"[[8], []]", "float,ScalarList", ";[-9, 0]"}).status,
            CostStatus::kBadShapes);
}

TEST(Generated, TheirBuffersAreReadOrWrittenOnce) {
  const OpCost cost =
      Cost("triton_poi_fused_add_cos_sin_0",
           {"[[10, 10], [10, 10], [10, 10], []]", "float,float,float,Scalar", ",,,100"});
  EXPECT_EQ(cost.status, CostStatus::kBytesOnly);
  EXPECT_EQ(cost.family, OpFamily::kGenerated);
  EXPECT_EQ(cost.bytes(), 1200U);
  EXPECT_EQ(cost.flops(), 0U);
}

// An argument that is smaller than the result, such as a bias, is not written.
TEST(Generated, ABufferThatIsWrittenInPlaceCountsTwice) {
  const auto bytes = [](std::string_view name, const TestCall& call) {
    return Cost(name, call).bytes();
  };
  const TestCall bias{"[[64, 32], [32], []]", "float,float,Scalar", ",,2048"};
  EXPECT_EQ(bytes("triton_poi_fused_addmm_gelu_view_15", bias), 2U * 8192 + 128);
  EXPECT_EQ(bytes("triton_poi_fused_convolution_relu_2",
                  {"[[64, 32], [32], [], []]", "float,float,Scalar,Scalar", ",,64,32"}),
            2U * 8192 + 128);
  // What each one stores is unknown, or the kernel processes another number of elements.
  EXPECT_EQ(bytes("triton_poi_fused_cat_3", bias), 8192U + 128);
  EXPECT_EQ(bytes("triton_red_fused_sum_4", bias), 8192U + 128);
  EXPECT_EQ(bytes("triton_poi_fused_add_5", {"[[64, 32], [32], []]", "float,float,Scalar", ",,32"}),
            8192U + 128);
  EXPECT_EQ(bytes("triton_poi_fused_add_6", {"[[64, 32], [32]]", "float,float"}), 8192U + 128);
}

constexpr std::string_view kDims = "[[4, 16, 32], [64, 32], []]";
constexpr std::string_view kTypes = "c10::BFloat16,c10::BFloat16,Scalar";

TEST(Generated, TheResultOfAProductIsNotWritten) {
  const auto bytes = [&](std::string_view name, std::string_view dims = kDims,
                         std::string_view types = kTypes) {
    return Cost(name, {dims, types, ",,2048"}).bytes();
  };
  EXPECT_EQ(bytes("triton_poi_fused__unsafe_view_mul_silu_2"), 3U * 4096);
  EXPECT_EQ(bytes("triton_poi_fused_mul_silu_2"), 2U * 4096);
  EXPECT_EQ(bytes("triton_poi_fused__unsafe_view_clone_2"), 2U * 4096);
  EXPECT_EQ(bytes("triton_poi_fused__unsafe_view_mul_2", "[[64, 32], [4, 16, 32], []]"), 2U * 4096);
  EXPECT_EQ(bytes("triton_poi_fused__unsafe_view_mul_2", kDims, "c10::BFloat16,float,Scalar"),
            4096U + 8192);
}

TEST(Generated, SomeTouchAPartOfABuffer) {
  const TestCall call{"[[1000, 64], [10], [10, 64]]", "float,long int,float"};
  EXPECT_EQ(Cost("triton_poi_fused_embedding_0", call).status, CostStatus::kDependsOnData);
  EXPECT_EQ(Cost("triton_poi_fused__unsafe_index_put_3", call).status, CostStatus::kDependsOnData);
  EXPECT_EQ(Cost("triton_tem_fused_mm_0", call).status, CostStatus::kUnknownOp);
  EXPECT_EQ(Cost("triton_red_fused_sum_0", {"[[], []]", "Scalar,Scalar", ",1,2"}).status,
            CostStatus::kMissingShapes);
}

}  // namespace
}  // namespace borescope::internal::opmodel
