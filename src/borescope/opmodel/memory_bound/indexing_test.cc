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
  EXPECT_EQ(cost.flops(), expected.flops) << name << " " << call.dims;
  EXPECT_EQ(cost.bytes(), expected.bytes) << name << " " << call.dims;
  EXPECT_EQ(cost.matrix_flops, 0U) << name;
}

TEST(Picking, ByIndex) {
  Expect("aten::take", {"[[8, 16], [3]]", "float,long int"}, {0, 3 * (8 + 4 + 4)});
  Expect("aten::take_along_dim", {"[[8, 16], [8, 2], []]", "float,long int,Scalar", ",,1"},
         {0, 16 * (8 + 4 + 4)});
  Expect("aten::put_", {"[[8, 16], [3], [3], []]", "float,long int,float,Scalar", ",,,False"},
         {0, 3 * (8 + 4 + 4)});
  Expect("aten::put_", {"[[8, 16], [3], [3], []]", "float,long int,float,Scalar", ",,,True"},
         {3, 3 * (8 + 4 + 4 + 4)});
  Expect("aten::index_fill_", {"[[8, 16], [], [3], []]", "float,Scalar,long int,Scalar", ",0,,1."},
         {0, 3 * 8 + 3 * 16 * 4});
  Expect("aten::index_fill", {"[[8, 16], [], [3], []]", "float,Scalar,long int,Scalar", ",0,,1."},
         {0, 3 * 8 + 2 * 512});
  Expect("aten::scatter_reduce_",
         {"[[8, 16], [], [8, 2], [8, 2], [], []]", "float,Scalar,long int,float,,Scalar", ",0,,,,"},
         {16, 16 * (8 + 4 + 4 + 4)});
}

// The profiler does not record lists with optional tensors.
TEST(Picking, IndicesThatWereNotRecorded) {
  EXPECT_EQ(Cost("aten::index", {"[[8, 16], []]", "float,"}).status, CostStatus::kDependsOnData);
  const TestCall put{"[[8, 16], [], [3, 16], [], []]", "float,,float,Scalar,Scalar",
                     ",,,False,False"};
  Expect("aten::_index_put_impl_", put, {0, 2 * 3 * 16 * 4});
  EXPECT_TRUE(Cost("aten::_index_put_impl_", put).is_lower_bound);
  Expect("aten::_index_put_impl_",
         {"[[8, 16], [], [3, 16], [], []]", "float,,float,Scalar,Scalar", ",,,True,False"},
         {48, 3 * 3 * 16 * 4});
  EXPECT_EQ(Cost("aten::index_put_", {"[[8, 16], [], [], []]", "float,,float,Scalar"}).status,
            CostStatus::kDependsOnData);
}

TEST(Picking, WhatIsFoundIsNotRecorded) {
  Expect("aten::nonzero", {"[[8, 16]]", "bool"}, {128, 128});
  Expect("aten::masked_select", {"[[8, 16], [8, 16]]", "float,bool"}, {0, 128});
  Expect("aten::_unique2", {"[[8, 16], [], [], []]", "float,Scalar,Scalar,Scalar"}, {0, 512});
  EXPECT_TRUE(Cost("aten::nonzero", {"[[8, 16]]", "bool"}).is_lower_bound);
}

TEST(Picking, SearchesAndHistograms) {
  // 4 steps for each of 128 are more than the 10 sorted values.
  Expect("aten::searchsorted",
         {"[[10], [8, 16], [], [], [], []]", "float,float,Scalar,Scalar,,", ",,False,False,,"},
         {0, 4 * (10 + 128) + 8 * 128});
  // 11 steps for each of 3 are less than 1024.
  Expect("aten::bucketize", {"[[3], [1024], [], []]", "float,float,Scalar,Scalar", ",,True,False"},
         {0, 4 * (3 + 33) + 4 * 3});
  Expect("aten::bincount", {"[[100], [], []]", "long int,,Scalar", ",,8"}, {100, 800 + 64});
  Expect("aten::histc", {"[[8, 16], [], [], []]", "float,Scalar,Scalar,Scalar", ",100,0,0"},
         {3 * 128, 512 + 400});
}

TEST(Picking, BagsOfRows) {
  constexpr std::string_view kTypes = "float,long int,long int,Scalar,Scalar,Scalar,,Scalar,Scalar";
  constexpr std::string_view kDims = "[[50, 16], [30], [5], [], [], [], [], [], []]";
  // 30 rows are added into 5 bags, and each of these is divided.
  Expect("aten::_embedding_bag", {kDims, kTypes, ",,,False,1,False,,False,-1"},
         {30 * 16 + 5 * 16, 8 * 35 + 4 * 30 * 16 + 4 * 5 * 16});
  Expect("aten::_embedding_bag_forward_only", {kDims, kTypes, ",,,False,0,False,,True,-1"},
         {30 * 16, 8 * 35 + 4 * 30 * 16 + 4 * 4 * 16});
  Expect("aten::_embedding_bag_dense_backward",
         {"[[5, 16], [30], [30], [5], [5], [], [], [], [], []]",
          "float,long int,long int,long int,long int,Scalar,Scalar,Scalar,,Scalar",
          ",,,,,50,False,0,,-1"},
         {30 * 16, 4 * 5 * 16 + 8 * 60 + 4 * 50 * 16});
}

// 2 tables of 24 columns together, 40 indices in 2 x 5 bags.
TEST(Picking, BatchedTablesOfFbgemm) {
  const OpCost cost =
      Cost("fbgemm::split_embedding_codegen_forward_unweighted_cuda",
           {"[[9000], [0], [0, 0], [2], [2], [3], [], [], [40], [11], []]",
            "c10::Half,c10::Half,c10::Half,int,long int,int,Scalar,Scalar,long int,long int,Scalar",
            ",,,,,,24,16,,,0"});
  EXPECT_EQ(cost.status, CostStatus::kOk);
  EXPECT_EQ(cost.flops(), 40U * 12);
  EXPECT_EQ(cost.bytes(), 8U * (40 + 11) + 2 * 40 * 12 + 4 * 10 * 12);
}

}  // namespace

}  // namespace borescope::internal::opmodel
