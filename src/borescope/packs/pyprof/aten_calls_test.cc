#include "borescope/packs/pyprof/aten_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

std::string Tensor(const std::string& shape, const std::string& dtype,
                   const std::string& name = "") {
  return fmt::format("{{'name': '{}', 'type': 'tensor', 'shape': {}, 'dtype': '{}'}}", name, shape,
                     dtype);
}
std::string F32(const std::string& shape) { return Tensor(shape, "float32"); }
std::string F16(const std::string& shape) { return Tensor(shape, "float16"); }

std::string Value(const std::string& type, const std::string& value, const std::string& name = "") {
  return fmt::format("{{'name': '{}', 'type': '{}', 'value': {}}}", name, type, value);
}

const std::string kFunctional = "torch.nn.functional";

// "matrix FLOPs/bytes", or why there are none.
std::string Cost(const std::string& mod, const std::string& op,
                 const std::vector<std::string>& args) {
  std::string text = "{'mod': '" + mod + "', 'op': '" + op + "', 'args': [";
  for (const std::string& arg : args) {
    text += (text.back() == '[' ? "" : ", ") + arg;
  }
  const OpCost cost = CostOfCall(ParsePyProfMarker(text + "]}").call, {});
  const bool is_known = cost.status == CostStatus::kOk;
  return is_known ? fmt::format("{}/{}", cost.matrix_flops, cost.bytes())
                  : std::string(CostStatusName(cost.status));
}

// LeNet with one image: the numbers that PyProf should have had.
TEST(AtenCallsTest, LeNet) {
  EXPECT_EQ(Cost(kFunctional, "conv2d", {F32("(1, 1, 32, 32)"), F32("(6, 1, 5, 5)"), F32("(6,)")}),
            "235200/23536");
  EXPECT_EQ(Cost(kFunctional, "conv2d",
                 {F32("(1, 6, 14, 14)"), F32("(16, 6, 5, 5)"), F32("(16,)"), Value("int", "1"),
                  Value("tuple", "(0, 0)"), Value("int", "1"), Value("int", "1")}),
            "480000/20768");
  EXPECT_EQ(Cost(kFunctional, "linear",
                 {F32("(1, 400)"), F32("(120, 400)"), Tensor("(120,)", "float32", "bias")}),
            "96000/194560");
  EXPECT_EQ(Cost(kFunctional, "linear", {F32("(1, 120)"), F32("(84, 120)"), F32("(84,)")}),
            "20160/41472");
  EXPECT_EQ(Cost(kFunctional, "linear", {F32("(1, 84)"), F32("(10, 84)"), F32("(10,)")}),
            "1680/3776");
}

TEST(AtenCallsTest, ConvolutionsByKeywords) {
  EXPECT_EQ(Cost(kFunctional, "conv2d",
                 {F16("(64, 64, 56, 56)"), F16("(64, 16, 3, 3)"), Value("int", "1", "padding"),
                  Value("int", "4", "groups")}),
            "3699376128/51398656");
  EXPECT_EQ(Cost(kFunctional, "conv1d",
                 {F32("(32, 3, 224)"), F32("(16, 3, 3)"), Value("tuple", "(2,)", "stride")}),
            "1022976/313920");
  EXPECT_EQ(Cost(kFunctional, "conv_transpose2d", {F16("(64, 8, 5, 5)"), F16("(8, 16, 3, 3)")}),
            "3686400/128256");
}

TEST(AtenCallsTest, Products) {
  const std::string a = F16("(4, 8, 32, 128)");
  const std::string b = F16("(8, 128, 256)");
  EXPECT_EQ(Cost("torch", "matmul", {a, b}), "67108864/1310720");
  EXPECT_EQ(Cost("Tensor", "__matmul__", {a, b}), "67108864/1310720");
  EXPECT_EQ(Cost("torch", "mm", {F32("(32, 128)"), F32("(128, 256)")}), "2097152/180224");
}

TEST(AtenCallsTest, ParametersInOtherPlaces) {
  EXPECT_EQ(Cost(kFunctional, "embedding", {Tensor("(128, 16)", "int64"), F16("(1024, 32)")}),
            Cost("torch", "embedding", {F16("(1024, 32)"), Tensor("(128, 16)", "int64")}));
  EXPECT_EQ(Cost(kFunctional, "embedding", {Tensor("(128, 16)", "int64"), F16("(1024, 32)")}),
            "0/278528");
  EXPECT_EQ(Cost(kFunctional, "mse_loss",
                 {F32("(1, 10)"), F32("(1, 10)"), Value("str", "'mean'", "reduction")}),
            "0/84");
  EXPECT_EQ(Cost("torch", "sum", {F32("(8, 16)"), Value("int", "1", "dim")}), "0/544");
}

TEST(AtenCallsTest, MethodsAndLists) {
  const std::string a = F32("(8, 16)");
  EXPECT_EQ(Cost("Tensor", "__add__", {a, Value("float", "2.0")}), "0/1024");
  EXPECT_EQ(Cost("Tensor", "__truediv__", {a, a}), "0/1536");
  EXPECT_EQ(Cost("Tensor", "add_", {a, a}), "0/1536");
  EXPECT_EQ(Cost("Tensor", "__eq__", {a, a}), "0/1152");
  EXPECT_EQ(Cost("torch", "cat", {a, a, Value("int", "0", "dim")}), "0/2048");
}

TEST(AtenCallsTest, WhatHasNoCost) {
  EXPECT_EQ(Cost("torch", "unknown", {}), "unknown op");
  EXPECT_EQ(Cost("torch", "mm", {}), "missing shapes");
  EXPECT_EQ(Cost("torch", "mm", {F32("(2, 3)"), F32("(4, 5)")}), "bad shapes");
  EXPECT_EQ(Cost("torch", "mm", {Tensor("(2, 3)", "x"), Tensor("(3, 5)", "x")}), "unknown dtype");
}

}  // namespace
}  // namespace borescope::internal
