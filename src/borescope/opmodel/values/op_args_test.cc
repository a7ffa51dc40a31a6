#include "borescope/opmodel/values/op_args.h"

#include <gtest/gtest.h>

#include <string>

namespace borescope::internal {
namespace {

using Ints = std::vector<int64_t>;

TEST(OpArgsTest, TensorsListsAndValues) {
  const CallArgs args =
      CallArgs::Parse({"[[2, 3], [], [[4, 5], [6]], [], []]",
                       R"(["float", "Scalar", "TensorList", "c10::Half", ""])",
                       "[[3, 1], [], [[5, 1], [1]], [], []]", R"(["", "1e-05", "", "", ""])"});
  EXPECT_TRUE(args.is_recorded());
  EXPECT_FALSE(args.is_bad());
  ASSERT_EQ(args.size(), 5U);
  EXPECT_EQ(args[0].kind, ArgKind::kTensor);
  EXPECT_EQ(args.Tensor(0)->dims, (Ints{2, 3}));
  EXPECT_EQ(args.Tensor(0)->strides, (Ints{3, 1}));
  EXPECT_EQ(args.Tensor(0)->type, ScalarType::kFloat32);
  EXPECT_EQ(args[1].kind, ArgKind::kValue);
  EXPECT_EQ(args.Value(1), "1e-05");
  EXPECT_EQ(args[2].kind, ArgKind::kTensorList);
  ASSERT_EQ(args[2].tensors.size(), 2U);
  EXPECT_EQ(args[2].tensors[1].dims, Ints{6});
  EXPECT_EQ(args[2].tensors[0].strides, (Ints{5, 1}));
  EXPECT_EQ(args.Tensor(2), nullptr);
  EXPECT_EQ(args[3].kind, ArgKind::kTensor);  // of a single element
  EXPECT_EQ(args[4].kind, ArgKind::kAbsent);
  EXPECT_EQ(args.Tensor(5), nullptr);
}

TEST(OpArgsTest, ValuesByKind) {
  const CallArgs args = CallArgs::Parse(
      {"[[], [], [], [], [], []]", "", "", R"(["3", "[1, -2]", "True", "0.5", "[]", ""])"});
  EXPECT_EQ(args.Integer(0), 3);
  EXPECT_EQ(args.Integers(0), Ints{3});
  EXPECT_EQ(args.Integers(1), (Ints{1, -2}));
  EXPECT_EQ(args.Bool(2), true);
  EXPECT_EQ(args.Integer(3), std::nullopt);
  EXPECT_EQ(args.Bool(3), std::nullopt);
  EXPECT_EQ(args.Integers(4), Ints{});
  EXPECT_EQ(args.Integer(5), std::nullopt);
  EXPECT_EQ(args.Integers(5), std::nullopt);
  EXPECT_EQ(args.Integer(99), std::nullopt);
}

TEST(OpArgsTest, ShapesAloneAreTensorsOfNoKnownType) {
  const CallArgs args = CallArgs::Parse({"[[2, 3], []]", "", "", ""});
  EXPECT_EQ(args.Tensor(0)->type, ScalarType::kUnknown);
  EXPECT_EQ(args[1].kind, ArgKind::kAbsent);
}

TEST(OpArgsTest, NothingRecorded) {
  const CallArgs args = CallArgs::Parse({});
  EXPECT_FALSE(args.is_recorded());
  EXPECT_FALSE(args.is_bad());
}

TEST(OpArgsTest, DamagedShapesAreNotUsed) {
  for (const char* dims :
       {"[[2, 3]", "[2, 3]", "[[2,]]", "[[2 3]]", "[[-1]]", "[[99999999999999999999]]", "[[[[1]]]]",
        "[[1]] x", "x", "[\"...\"]", "[[1], ]", "[[[1], 2]]", "["}) {
    EXPECT_TRUE(CallArgs::Parse({dims, "", "", ""}).is_bad()) << dims;
  }
}

TEST(OpArgsTest, DamagedTypesAndStridesSayNothing) {
  for (const char* text : {"[", "[\"", "[\"a\\", "[1, 2", "x", "[\"a\" \"b\"]"}) {
    const CallArgs args = CallArgs::Parse({"[[2]]", text, text, text});
    EXPECT_FALSE(args.is_bad()) << text;
    EXPECT_EQ(args.Tensor(0)->type, ScalarType::kUnknown) << text;
    EXPECT_TRUE(args.Tensor(0)->strides.empty()) << text;
    EXPECT_EQ(args.Value(0), "") << text;
  }
}

TEST(OpArgsTest, StridesOfAnotherRankAreNotUsed) {
  const CallArgs args = CallArgs::Parse({"[[2, 3]]", "", "[[1]]", ""});
  EXPECT_TRUE(args.Tensor(0)->strides.empty());
}

}  // namespace
}  // namespace borescope::internal
