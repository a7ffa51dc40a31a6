#include <gtest/gtest.h>

#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal::opmodel {
namespace {

constexpr OpModelOptions kFloatLists{.list_type = ScalarType::kFloat32};

struct Expected {
  uint64_t flops, bytes;
};

void Expect(std::string_view name, const TestCall& call, Expected expected,
            const OpModelOptions& options = {}) {
  const OpCost cost = Cost(name, call, options);
  EXPECT_EQ(cost.status, CostStatus::kOk) << name << " " << call.dims;
  EXPECT_EQ(cost.flops(), expected.flops) << name << " " << call.dims;
  EXPECT_EQ(cost.bytes(), expected.bytes) << name << " " << call.dims;
  EXPECT_EQ(cost.matrix_flops, 0U) << name;
}

// PyProf's sample: the first ReLU of a ResNet-50 at batch 64, and the one after the convolution.
TEST(MemoryBound, SampleOfPyProf) {
  Expect("aten::relu", {"[[64, 64, 112, 112]]", "c10::Half"}, {51'380'224, 205'520'896});
  Expect("aten::relu_", {"[[64, 64, 56, 56]]", "c10::Half"}, {12'845'056, 51'380'224});
  Expect("aten::threshold_backward",
         {"[[64, 64, 112, 112], [64, 64, 112, 112], []]", "c10::Half,c10::Half,Scalar", ",,0"},
         {51'380'224, 308'281'344});
}

TEST(MemoryBound, PointwiseOfPyProf) {
  Expect("aten::add", {"[[8, 16], [8, 16], []]", "float,float,Scalar", ",,1"}, {128, 1536});
  Expect("aten::add", {"[[8, 1], [16], []]", "float,float,Scalar", ",,1"}, {128, 608});
  Expect("aten::eq", {"[[8, 16], [8, 16]]", "float,float"}, {128, 1152});
  Expect("aten::addcmul", {"[[8, 16], [8, 16], [8, 16], []]", "float,float,float,Scalar", ",,,1"},
         {384, 2048});
  Expect("aten::mul", {"[[8, 16], [8, 16]]", "c10::Half,float"}, {128, 128 * (2 + 4 + 4)});
}

TEST(MemoryBound, ValuesCostNothingAndRaiseTheType) {
  Expect("aten::add", {"[[8, 16], [], []]", "float,Scalar,Scalar", ",2.0,1"}, {128, 1024});
  Expect("aten::mul", {"[[8, 16], []]", "int,Scalar", ",2.5"}, {128, 1024});
  Expect("aten::mul", {"[[8, 16], []]", "int,Scalar", ",2"}, {128, 1024});
  Expect("aten::mul", {"[[8, 16], []]", "bool,Scalar", ",2"}, {128, 128 + 1024});
  Expect("aten::mul", {"[[8, 16], []]", "c10::Half,double"}, {128, 512 + 8});
  Expect("aten::div", {"[[8, 16], []]", "long int,Scalar", ",2"}, {128, 1024 + 512});
}

TEST(MemoryBound, WhereTheResultGoes) {
  Expect("aten::eq_", {"[[8, 16], [8, 16]]", "float,float"}, {128, 1536});
  Expect("aten::add_", {"[[8, 16], [8, 16], []]", "c10::Half,float,Scalar"}, {128, 128 * 8});
  Expect("aten::logical_and", {"[[2048], [2048], [2048]]", "bool,bool,bool"}, {2048, 3 * 2048});
  Expect("aten::masked_fill_", {"[[8, 16], [8, 16], []]", "float,bool,Scalar", ",,0"},
         {128, 512 + 128 + 512});
  Expect("aten::where", {"[[8, 16], [8, 16], []]", "bool,float,float"}, {128, 128 + 512 + 4 + 512});
}

TEST(MemoryBound, AWeightForFunctions) {
  Expect("aten::exp", {"[[8, 16]]", "float"}, {128, 1024});
  Expect("aten::exp", {"[[8, 16]]", "float"}, {2560, 1024}, {.transcendental_flops = 20});
  Expect("aten::sigmoid", {"[[8, 16]]", "long int"}, {4 * 128, 1024 + 512});
}

TEST(MemoryBound, AnExpandedInputIsReadOnce) {
  Expect("aten::add", {"[[8, 16], [8, 16]]", "float,float", "", "[[16, 1], [0, 1]]"},
         {128, 512 + 64 + 512});
}

TEST(MemoryBound, ActivationsAndDropout) {
  Expect("aten::gelu", {"[[8, 16], []]", "float,"}, {8 * 128, 1024});
  Expect("aten::gelu_backward", {"[[8, 16], [8, 16], []]", "float,float,"}, {16 * 128, 1536});
  Expect("aten::native_dropout", {"[[8, 16], [], []]", "float,Scalar,Scalar", ",0.1,True"},
         {256, 1024 + 128});
  Expect("aten::native_dropout_backward", {"[[8, 16], [8, 16], []]", "float,bool,Scalar"},
         {256, 1024 + 128});
  Expect("aten::glu", {"[[8, 16], []]", "float,Scalar", ",-1"}, {5 * 64, 512 + 256});
}

TEST(MemoryBound, LayerNorm) {
  const OpCost cost =
      Cost("aten::native_layer_norm",
           {"[[8192, 4096], [], [4096], [4096], []]",
            "c10::BFloat16,ScalarList,c10::BFloat16,c10::BFloat16,Scalar", ",[4096],,,1e-05"});
  EXPECT_EQ(cost.bytes(), 134'299'648U);
  EXPECT_EQ(cost.flops(), 8U * 8192 * 4096 + 8192);
  Expect("aten::_fused_rms_norm",
         {"[[8, 16], [], [16], []]", "float,ScalarList,float,Scalar", ",[16],,1e-05"},
         {4 * 128 + 8, 1024 + 64 + 32});
  Expect("aten::native_layer_norm_backward",
         {"[[8, 16], [8, 16], [], [8, 1], [8, 1], [16], [16], []]",
          "float,float,ScalarList,float,float,float,float,"},
         {11 * 128, 3 * 512 + 64 + 64 + 2 * 64});
}

TEST(MemoryBound, FusedOperatorsOfVllm) {
  Expect("_C::rms_norm", {"[[8, 16], [8, 16], [16], []]", "c10::Half,c10::Half,c10::Half,Scalar"},
         {4 * 128 + 8, 2 * 256 + 32});
  Expect("_C::fused_add_rms_norm",
         {"[[8, 16], [8, 16], [16], []]", "c10::Half,c10::Half,c10::Half,Scalar"},
         {5 * 128 + 8, 4 * 256 + 32});
  Expect("_C::silu_and_mul", {"[[8, 8], [8, 16]]", "c10::Half,c10::Half"}, {5 * 64, 256 + 128});
}

TEST(MemoryBound, BatchNorm) {
  const auto norm = [](std::string_view training) {
    return Cost("aten::native_batch_norm",
                {"[[2, 3, 4, 5], [3], [3], [3], [3], [], [], []]",
                 "c10::Half,float,float,float,float,Scalar,Scalar,Scalar",
                 ",,,,," + std::string(training) + ",0.1,1e-05"});
  };
  EXPECT_EQ(norm("True").flops(), 960U + 3);
  EXPECT_EQ(norm("True").bytes(), 2U * 240 + 4 * 12 + 2 * 12 + 2 * 12);
  EXPECT_EQ(norm("False").flops(), 240U);
  EXPECT_EQ(norm("False").bytes(), 2U * 240 + 4 * 12);
  EXPECT_EQ(norm("").status, CostStatus::kNeedsValues);
}

TEST(MemoryBound, GroupNorm) {
  Expect("aten::native_group_norm",
         {"[[2, 4, 8], [4], [4], [], [], [], [], []]",
          "float,float,float,Scalar,Scalar,Scalar,Scalar,Scalar", ",,,2,4,8,2,1e-05"},
         {8 * 64 + 4, 512 + 32 + 2 * 4 * 4});
}

TEST(MemoryBound, SoftmaxAndLosses) {
  Expect("aten::_softmax", {"[[8, 16], [], []]", "float,Scalar,Scalar", ",1,False"}, {512, 1024});
  Expect("aten::_softmax", {"[[8, 16], [], []]", "c10::Half,Scalar,Scalar", ",1,True"},
         {512, 256 + 512});
  Expect("aten::_softmax_backward_data",
         {"[[8, 16], [8, 16], [], []]", "float,float,Scalar,Scalar", ",,1,6"}, {512, 1536});
  Expect("aten::nll_loss_forward",
         {"[[8, 16], [8], [], [], []]", "float,long int,,Scalar,Scalar", ",,,1,-100"},
         {8, 4 * 8 + 8 * 8 + 8});
  Expect("aten::nll_loss_backward",
         {"[[], [8, 16], [8], [], [], [], []]", "float,float,long int,,Scalar,Scalar,float"},
         {8, 4 + 64 + 32});
  Expect("aten::mse_loss", {"[[1, 10], [1, 10], []]", "float,float,Scalar", ",,1"}, {30, 84});
  Expect("aten::mse_loss", {"[[1, 10], [1, 10], []]", "float,float,Scalar", ",,0"}, {30, 120});
}

TEST(MemoryBound, Reductions) {
  Expect("aten::mean", {"[[8, 16], []]", "float,", ","}, {129, 516});
  Expect("aten::mean", {"[[8, 16], [], [], []]", "float,ScalarList,Scalar,", ";[1];False;"},
         {136, 512 + 32});
  Expect("aten::sum", {"[[8, 16], []]", "float,", ","}, {128, 516});
  Expect("aten::sum", {"[[8, 16], [], [], []]", "float,ScalarList,Scalar,", ";[0, -1];False;"},
         {128, 516});
  Expect("aten::sum", {"[[8, 16], []]", "bool,", ","}, {128, 128 + 8});
  Expect("aten::norm", {"[[8, 16], []]", "float,Scalar", ",2"}, {257, 516});
  Expect("aten::linalg_vector_norm",
         {"[[8, 16], [], [], [], []]", "float,Scalar,,Scalar,", ",2,,False,"}, {257, 516});
  Expect("aten::argmax", {"[[8, 16], [], []]", "float,Scalar,Scalar", ",1,False"}, {128, 512 + 64});
  Expect("aten::max", {"[[8, 16], [], []]", "float,Scalar,Scalar", ",1,False"},
         {128, 512 + 64 + 32});
  Expect("aten::max", {"[[8, 16]]", "float"}, {128, 516});
  Expect("aten::max", {"[[8, 16], [8, 16]]", "float,float"}, {128, 1536});
  Expect("aten::all", {"[[1, 141]]", "bool"}, {141, 142});
  // A single number may be given dimension 0.
  Expect("aten::sum", {"[[], [], [], []]", "float,ScalarList,Scalar,", ";[0];False;"}, {1, 8});
  Expect("aten::sum", {"[[], [], [], []]", "float,ScalarList,Scalar,", ";[-1];False;"}, {1, 8});
  EXPECT_EQ(Cost("aten::sum", {"[[], [], [], []]", "float,ScalarList,Scalar,", ";[1];;"}).status,
            CostStatus::kBadShapes);
  EXPECT_EQ(Cost("aten::sum", {"[[8], [], [], []]", "float,ScalarList,Scalar,", ";[3];;"}).status,
            CostStatus::kBadShapes);
  EXPECT_EQ(Cost("aten::sum", {"[[8], [], [], []]", "float,ScalarList,Scalar,"}).status,
            CostStatus::kNeedsValues);
}

TEST(MemoryBound, Indices) {
  Expect("aten::embedding",
         {"[[1024, 32], [128, 16], [], [], []]", "c10::Half,long int,Scalar,Scalar,Scalar"},
         {0, 278'528});
  Expect("aten::embedding_dense_backward",
         {"[[128, 16, 32], [128, 16], [], [], []]", "c10::Half,long int,Scalar,Scalar,Scalar",
          ",,1024,-1,False"},
         {128 * 16 * 32, 2 * 128 * 16 * 32 + 8 * 128 * 16 + 2 * 1024 * 32});
  Expect("aten::index_select", {"[[8, 16], [], [4]]", "float,Scalar,long int", ",0,"}, {0, 544});
  Expect("aten::gather", {"[[8, 16], [], [8, 2], []]", "float,Scalar,long int,Scalar"},
         {0, 16 * (8 + 4 + 4)});
  Expect("aten::scatter_add_", {"[[50], [], [90], [90]]", "float,Scalar,long int,float", ",0,,"},
         {90, 90 * (8 + 4 + 4 + 4)});
  Expect("aten::scatter_", {"[[50], [], [90], []]", "float,Scalar,long int,Scalar", ",0,,1"},
         {0, 90 * (8 + 4)});
  // Of a source larger than the index, that part is read.
  Expect("aten::scatter_add_", {"[[50], [], [90], [300]]", "float,Scalar,long int,float", ",0,,"},
         {90, 90 * (8 + 4 + 4 + 4)});
  Expect("aten::scatter_",
         {"[[8, 16], [], [2, 3], [8, 16]]", "float,Scalar,long int,float", ",0,,"},
         {0, 6 * (8 + 4 + 4)});
  Expect("aten::index_add_",
         {"[[8, 16], [], [4], [4, 16], []]", "float,Scalar,long int,float,Scalar", ",0,,,1"},
         {64, 4 * 8 + 64 * (4 + 4 + 4)});
  Expect("aten::index_copy_",
         {"[[8, 16], [], [4], [4, 16]]", "float,Scalar,long int,float", ",0,,"},
         {0, 4 * 8 + 64 * (4 + 4)});
  Expect("aten::sort", {"[[8, 16], [], []]", "float,Scalar,Scalar"}, {0, 512 + 512 + 1024});
  Expect("aten::topk",
         {"[[8, 16], [], [], [], []]", "float,Scalar,Scalar,Scalar,Scalar", ",2,-1,True,True"},
         {256, 512 + 16 * 12});
}

TEST(MemoryBound, Movement) {
  Expect("aten::copy_", {"[[5, 128], [5, 128], []]", "c10::Half,float,Scalar"}, {0, 640 * 6});
  Expect("aten::clone", {"[[18, 4, 416, 640], []]", "float,"}, {0, 153'354'240});
  Expect(
      "aten::_to_copy",
      {"[[18, 104, 160], [], [], [], [], [], []]", "bool,Scalar,Scalar,,,Scalar,", ",6,0,,,False,"},
      {0, 1'497'600});
  Expect("aten::zero_", {"[[8, 16]]", "c10::Half"}, {0, 256});
  Expect("aten::fill_", {"[[8, 16], []]", "float,Scalar"}, {0, 512});
  Expect("aten::cat", {"[[[8, 16], [8, 16]], []]", "TensorList,Scalar", ",0"}, {0, 2048},
         kFloatLists);
  EXPECT_EQ(Cost("aten::cat", {"[[[8, 16]], []]", "TensorList,Scalar"}).status,
            CostStatus::kUnknownType);
  EXPECT_EQ(Cost("aten::cat", {"[[], []]", "TensorList,Scalar"}).status,
            CostStatus::kMissingShapes);
}

TEST(MemoryBound, Pooling) {
  const TestCall call{"[[1, 6, 28, 28], [], [], [], [], []]",
                      "float,ScalarList,ScalarList,ScalarList,ScalarList,Scalar",
                      ";[2, 2];[];[0, 0];[1, 1];False"};
  constexpr uint64_t kOut = 6 * 14 * 14;
  Expect("aten::max_pool2d_with_indices", call, {kOut * 4, 4 * (6 * 28 * 28 + kOut) + 8 * kOut});
  Expect(
      "aten::avg_pool2d",
      {"[[1, 6, 7, 7], [], [], [], [], []]", "float,ScalarList,ScalarList,ScalarList,Scalar,Scalar",
       ";[2, 2];[2, 2];[0, 0];True;True"},
      {6 * 16 * 5, 4 * (6 * 49 + 6 * 16)});
  Expect("aten::_adaptive_avg_pool2d", {"[[1, 6, 7, 7], []]", "float,ScalarList", ";[1, 1]"},
         {6 * 49 + 6, 4 * (6 * 49 + 6)});
  Expect("aten::upsample_nearest2d",
         {"[[1, 6, 7, 7], [], [], []]", "float,ScalarList,,", ";[14, 14];;"},
         {0, 4 * 6 * (49 + 196)});
}

TEST(MemoryBound, Optimizers) {
  const std::string five = "[[[100]], [[100]], [[100]], [[100]], [], [[1]], [], []]";
  Expect("aten::_fused_adam_",
         {five, "TensorList,TensorList,TensorList,TensorList,TensorList,TensorList,,"},
         {1200, 2800}, kFloatLists);
  Expect("aten::_foreach_add_",
         {"[[[128, 128], [128]], [[128, 128], [128]], []]", "TensorList,TensorList,Scalar"},
         {16512, 3 * 4 * 16512}, kFloatLists);
  Expect("aten::_foreach_mul_", {"[[[128], [2]], []]", "TensorList,Scalar"}, {130, 2 * 4 * 130},
         kFloatLists);
  Expect("aten::_foreach_copy_", {"[[[128]], [[128]], []]", "TensorList,TensorList,Scalar"},
         {0, 2 * 4 * 128}, kFloatLists);
  Expect("aten::_foreach_zero_", {"[[[128]]]", "TensorList"}, {0, 4 * 128}, kFloatLists);
  EXPECT_EQ(Cost("aten::_fused_adam_", {five}).status, CostStatus::kUnknownType);
}

TEST(Recurrent, LayersOfTwoDirections) {
  const OpCost cost = Cost(
      "aten::_cudnn_rnn",
      {"[[10, 64, 128], [[1024, 128], [1024, 256]], [], [], [2, 64, 256], [2, 64, 256], [], [], "
       "[], [], [], [], [], [], [], []]",
       "c10::Half,TensorList,Scalar,,c10::Half,c10::Half,Scalar,Scalar,Scalar,Scalar,Scalar,"
       "Scalar,Scalar,Scalar,ScalarList,",
       ";;4;;;;2;256;0;2;False;0.;True;True;[];"});
  const uint64_t first = 2ULL * 1024 * (128 + 256);
  const uint64_t second = 2ULL * 1024 * (512 + 256);
  EXPECT_EQ(cost.matrix_flops, 2 * 10 * 64 * (first + second));
  EXPECT_EQ(cost.family, OpFamily::kRecurrent);
  EXPECT_EQ(cost.written_bytes, 2U * 10 * 64 * 512);
}

// PyProf's golden vector of one cell: the product of the input, here with T = 1 and no hidden part.
TEST(Recurrent, TheProductsOfACellAreThoseOfPyProf) {
  EXPECT_EQ(Cost("aten::mm", {"[[64, 128], [128, 1024]]", "c10::Half,c10::Half"}).matrix_flops,
            16'777'216U);
  EXPECT_EQ(Cost("aten::mm", {"[[64, 128], [128, 1024]]", "c10::Half,c10::Half"}).bytes(),
            409'600U);
  EXPECT_EQ(Cost("aten::mm", {"[[64, 256], [256, 1024]]", "c10::Half,c10::Half"}).matrix_flops,
            33'554'432U);
  EXPECT_EQ(Cost("aten::mm", {"[[64, 256], [256, 1024]]", "c10::Half,c10::Half"}).bytes(),
            688'128U);
}

TEST(Collectives, WhatTheDeviceReadsAndWrites) {
  Expect("nccl:all_reduce", {"[[1000]]", "float"}, {0, 8000});
  Expect("symm_mem::multimem_all_reduce_", {"[[1000], [], []]", "c10::BFloat16,,"}, {0, 4000});
  Expect("symm_mem::multimem_all_gather_out",
         {"[[1000], [], [4000]]", "c10::BFloat16,,c10::BFloat16"}, {0, 10000});
  Expect("c10d::_allgather_base_", {"[[8000], [1000], []]", "signed char,signed char,"}, {0, 9000});
  Expect("c10d::allreduce_", {"[[[1000]], [], [], []]", "TensorList,,,Scalar"}, {0, 8000},
         kFloatLists);
}

}  // namespace
}  // namespace borescope::internal::opmodel
