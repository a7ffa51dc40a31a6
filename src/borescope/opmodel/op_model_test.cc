#include "borescope/opmodel/op_model.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include "borescope/opmodel/test_calls.h"

namespace borescope::internal {
namespace {

TEST(OpModelTest, EveryNameHasOneRow) {
  std::set<std::string_view> names;
  for (const OpModel& model : AllOpModels()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_NE(model.cost, nullptr) << model.name;
    EXPECT_EQ(FindOpModel(model.name), &model);
  }
}

TEST(OpModelTest, InPlaceVariantsHaveTheModelOfTheOther) {
  EXPECT_EQ(FindOpModel("aten::addmm_"), FindOpModel("aten::addmm"));
  EXPECT_EQ(FindOpModel("aten::addmm__"), nullptr);
  EXPECT_EQ(FindOpModel("aten::"), nullptr);
  EXPECT_EQ(FindOpModel(""), nullptr);
  EXPECT_EQ(FindOpModel("_"), nullptr);
}

TEST(OpModelTest, AnUnknownOperatorSaysSo) {
  const OpCost cost = opmodel::Cost("my::op", {"[[2, 3]]", "float"});
  EXPECT_EQ(cost.status, CostStatus::kUnknownOp);
  EXPECT_EQ(CostStatusName(cost.status), "unknown op");
  EXPECT_EQ(cost.flops() + cost.bytes(), 0U);
}

TEST(OpModelTest, WithoutShapesThereIsNoCost) {
  EXPECT_EQ(opmodel::Cost("aten::mm", {}).status, CostStatus::kMissingShapes);
  EXPECT_EQ(opmodel::Cost("aten::mm", {"[[2, 3"}).status, CostStatus::kBadShapes);
}

TEST(OpModelTest, WithoutTypesThereAreFlopsAlone) {
  const OpCost cost = opmodel::Cost("aten::mm", {"[[2, 3], [3, 4]]"});
  EXPECT_EQ(cost.status, CostStatus::kUnknownType);
  EXPECT_EQ(cost.matrix_flops, 48U);
  EXPECT_EQ(cost.bytes(), 0U);
}

std::string RandomDims(std::mt19937& random) {
  const char* kDims[] = {"0", "1", "2", "3", "7", "64", "4294967296", "9223372036854775807"};
  std::string text = "[";
  for (size_t i = 0, rank = random() % 6; i < rank; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(kDims[random() % std::size(kDims)]);
  }
  return text + "]";
}

// Whatever the shapes and values are, every model ends with a status, and counts only with a good
// one.
TEST(OpModelTest, NoModelFailsOnRandomArguments) {
  const char* kTypes[] = {"float",  "c10::Half",  "long int", "bool",
                          "Scalar", "TensorList", "",         "c10::BFloat16"};
  const char* kValues[] = {
      "",        "0",   "1",         "-1", "2",  "True",      "0.",
      "[1; -1]", "[0]", "[2; 2; 2]", "[]", "15", "[3000000]", "9223372036854775807"};
  std::mt19937 random(11);
  for (const OpModel& model : AllOpModels()) {
    for (int round = 0; round < 100; ++round) {
      std::string dims = "[";
      std::string types = "[";
      std::string values = "[";
      for (size_t i = 0, count = random() % 18; i < count; ++i) {
        const std::string between = i == 0 ? "" : ", ";
        const bool is_list = random() % 6 == 0;
        dims += between + (is_list ? "[" + RandomDims(random) + ", " + RandomDims(random) + "]"
                                   : RandomDims(random));
        types += between + "\"" + kTypes[random() % std::size(kTypes)] + "\"";
        std::string value = kValues[random() % std::size(kValues)];
        for (char& c : value) {
          c = c == ';' ? ',' : c;
        }
        values += between + "\"" + value + "\"";
      }
      dims += "]", types += "]", values += "]";
      const CallArgs args = CallArgs::Parse({dims, types, "", values});  // which keeps views
      const OpCost cost = CostOf(model.name, args, {});
      EXPECT_NE(cost.status, CostStatus::kUnknownOp) << model.name;
      if (!KnowsBytes(cost.status)) {
        EXPECT_EQ(cost.bytes(), 0U) << model.name << " " << dims;
      }
      if (!KnowsFlops(cost.status)) {
        EXPECT_EQ(cost.flops(), 0U) << model.name << " " << dims;
      }
    }
  }
}

// The document names every operator in full.
TEST(OpModelTest, EveryNameIsInTheDocument) {
  std::ifstream file(BORESCOPE_DOCS "/how-it-works/flops.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(text.empty());
  for (const OpModel& model : AllOpModels()) {
    EXPECT_NE(text.find("`" + std::string(model.name) + "`"), std::string::npos) << model.name;
  }
}

}  // namespace
}  // namespace borescope::internal
