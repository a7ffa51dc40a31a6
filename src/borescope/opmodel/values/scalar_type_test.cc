#include "borescope/opmodel/values/scalar_type.h"

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

}  // namespace
}  // namespace borescope::internal
