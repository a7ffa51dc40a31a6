#include "borescope/opmodel/values/op_args.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace borescope::internal {

namespace {

TEST(ScalarTypeTest, NamesOfTraces) {
  for (const auto& [name, ours] : {std::pair{"float", "fp32"},
                                   {"c10::Half", "fp16"},
                                   {"c10::BFloat16", "bf16"},
                                   {"BFloat16", "bf16"},
                                   {"Float", "fp32"},
                                   {"long int", "int64"},
                                   {"long", "int64"},
                                   {"Long", "int64"},
                                   {"unsigned char", "uint8"},
                                   {"signed char", "int8"},
                                   {"c10::Float8_e4m3fn", "e4m3"},
                                   {"c10::Float8_e4m3fnuz", "e4m3"},
                                   {"c10::Float8_e5m2fnuz", "e5m2"},
                                   {"c10::complex<float>", "complex64"},
                                   {"Scalar", "unknown"},
                                   {"TensorList", "unknown"},
                                   {"", "unknown"},
                                   {"c10::", "unknown"}}) {
    EXPECT_EQ(ScalarTypeName(ParseScalarType(name)), ours) << name;
  }
}

TEST(ScalarTypeTest, NumbersOfArguments) {
  EXPECT_EQ(ScalarTypeOfNumber(6), ScalarType::kFloat32);
  EXPECT_EQ(ScalarTypeOfNumber(15), ScalarType::kBFloat16);
  EXPECT_EQ(ScalarTypeOfNumber(24), ScalarType::kFloat8E4M3);
  EXPECT_EQ(ScalarTypeOfNumber(26), ScalarType::kFloat8E4M3);
  EXPECT_EQ(ScalarTypeOfNumber(-1), ScalarType::kUnknown);
  EXPECT_EQ(ScalarTypeOfNumber(1'000'000), ScalarType::kUnknown);
}

TEST(ScalarTypeTest, Sizes) {
  EXPECT_EQ(BitsPerElement(ScalarType::kBool), 8);
  EXPECT_EQ(BitsPerElement(ScalarType::kQUInt4x2), 4);
  EXPECT_EQ(BitsPerElement(ScalarType::kFloat4), 8);
  EXPECT_EQ(BitsPerElement(ScalarType::kComplex128), 128);
  EXPECT_EQ(BitsPerElement(ScalarType::kUnknown), 0);
}

TEST(ScalarTypeTest, PromotionIsThatOfPyTorch) {
  using enum ScalarType;
  const auto expect = [](ScalarType a, ScalarType b, ScalarType both) {
    EXPECT_EQ(Promote(a, b), both) << ScalarTypeName(a) << " " << ScalarTypeName(b);
    EXPECT_EQ(Promote(b, a), both) << ScalarTypeName(b) << " " << ScalarTypeName(a);
  };
  expect(kFloat16, kFloat16, kFloat16);
  expect(kFloat16, kBFloat16, kFloat32);
  expect(kFloat16, kFloat32, kFloat32);
  expect(kInt64, kFloat16, kFloat16);
  expect(kUInt8, kInt8, kInt16);
  expect(kUInt8, kInt32, kInt32);
  expect(kBool, kUInt8, kUInt8);
  expect(kComplex64, kFloat64, kComplex128);
  expect(kComplex64, kInt64, kComplex64);
  expect(kComplex32, kFloat32, kComplex64);
  expect(kUnknown, kFloat32, kUnknown);
}

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

using enum ScalarType;

TEST(ListType, OfListKernels) {
  constexpr std::string_view kAdd =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<2>, at::native::(anonymous "
      "namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)";
  EXPECT_EQ(ListTypeOfKernel(kAdd), kFloat32);
  EXPECT_EQ(ListTypeOfKernel("void multi_tensor_apply_kernel<TensorListMetadata<1>, "
                             "LpNormFunctor<c10::BFloat16, (NormType)1, c10::BFloat16, 1, 1, 0>"),
            kBFloat16);
  EXPECT_EQ(ListTypeOfKernel("void multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, "
                             "FusedAdamMathFunctor<double, 4, (ADAM_MODE)1, false>, float const*>"),
            kFloat64);
}

TEST(ListType, ACopyBetweenTypesHasNoOneType) {
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<TensorListMetadata<2>, "
                             "CopyFunctor<c10::Half, float, 2, 1, 1>, Copy<c10::Half, float>>"),
            kUnknown);
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<TensorListMetadata<2>, "
                             "CopyFunctor<c10::Half, c10::Half, 2, 1, 1>>"),
            kFloat16);
}

TEST(ListType, OfConcatenations) {
  EXPECT_EQ(ListTypeOfKernel("void at::native::(anonymous namespace)::CatArrayBatchedCopy_"
                             "vectorized<at::native::(anonymous namespace)::OpaqueType<2u>, "
                             "unsigned int, 4, 64, 64, 16, 8>(char*)"),
            kOpaque16);
  EXPECT_EQ(ListTypeOfKernel("CatArrayBatchedCopy<OpaqueType<(unsigned int)8>, unsigned int, 1>"),
            kOpaque64);
  EXPECT_EQ(ListTypeOfKernel("void CatArrayBatchedCopy<c10::Half, unsigned int, 2, 128, 1>()"),
            kFloat16);
  EXPECT_EQ(ListTypeOfKernel("CatArrayBatchedCopy<OpaqueType<3u>, unsigned int>"), kUnknown);
  EXPECT_EQ(ListTypeOfKernel("CatArrayBatchedCopy"), kUnknown);
}

TEST(ListType, OfReductionsBetweenDevices) {
  EXPECT_EQ(ListTypeOfKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"),
            kBFloat16);
  EXPECT_EQ(ListTypeOfKernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"), kFloat32);
  EXPECT_EQ(ListTypeOfKernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)"), kUnknown);
}

TEST(ListType, OfOtherKernelsNothing) {
  EXPECT_EQ(ListTypeOfKernel(""), kUnknown);
  EXPECT_EQ(ListTypeOfKernel("void vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>()"),
            kUnknown);
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<"), kUnknown);
  EXPECT_EQ(ListTypeOfKernel("multi_tensor_apply_kernel<CopyFunctor<float"), kUnknown);
}

TEST(ListType, OpaqueElementsHaveASizeAlone) {
  EXPECT_EQ(BitsPerElement(kOpaque16), 16);
  EXPECT_EQ(ScalarTypeName(kOpaque16), "16 bits");
  EXPECT_FALSE(IsFloatingPoint(kOpaque128));
  EXPECT_FALSE(IsComplex(kOpaque128));
}

constexpr int64_t kLarge = int64_t{1} << 40;

TEST(QuantityTest, CountsUntilItCannot) {
  EXPECT_EQ((Quantity(3) * 4 + 5).value(), 17U);
  EXPECT_TRUE((Quantity(kLarge) * kLarge).is_overflow());
  EXPECT_TRUE((Quantity(~uint64_t{0} - 1) + 2).is_overflow());
}

TEST(QuantityTest, WhatIsLostStaysLost) {
  const Quantity lost = Quantity(kLarge) * kLarge;
  EXPECT_TRUE((lost * 0).is_overflow());
  EXPECT_TRUE((Quantity(0) + lost).is_overflow());
  EXPECT_TRUE((lost - 1).is_overflow());
  EXPECT_TRUE(lost.DividedUp(2).is_overflow());
}

TEST(QuantityTest, NothingIsNegative) {
  EXPECT_TRUE(Quantity(-1).is_overflow());
  EXPECT_TRUE((Quantity(1) - 2).is_overflow());
  EXPECT_EQ((Quantity(5) - 2).value(), 3U);
}

TEST(QuantityTest, HalvesAreRoundedUp) {
  EXPECT_EQ(Quantity(5).DividedUp(2).value(), 3U);
  EXPECT_EQ(Quantity(4).DividedUp(2).value(), 2U);
  EXPECT_EQ(Quantity(0).DividedUp(8).value(), 0U);
}

}  // namespace

}  // namespace borescope::internal
