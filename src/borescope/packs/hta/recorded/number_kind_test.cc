#include "borescope/packs/hta/recorded/number_kind.h"

#include <gtest/gtest.h>

#include <cmath>

namespace borescope::internal {
namespace {

TEST(LooseNumber, AsPythonReadsThem) {
  EXPECT_EQ(ReadLooseNumber("12").type, LooseType::kInt);
  EXPECT_EQ(ReadLooseNumber("-12").integer, -12);
  EXPECT_EQ(ReadLooseNumber("12.0").type, LooseType::kFloat);
  EXPECT_EQ(ReadLooseNumber("1e3").number, 1000);
  EXPECT_TRUE(std::isnan(ReadLooseNumber("NaN").number));
  EXPECT_EQ(ReadLooseNumber("").type, LooseType::kNull);
  EXPECT_EQ(ReadLooseNumber("null").type, LooseType::kNull);
}

TEST(LooseNumber, WhatIsNoneOf64Bits) {
  for (const char* text : {"true", "\"1\"", "[1]", "{}", "99999999999999999999", "-"}) {
    EXPECT_EQ(ReadLooseNumber(text).type, LooseType::kOther) << text;
  }
}

std::string_view NameOf(std::initializer_list<LooseType> seen) {
  NumberKind kind;
  for (const LooseType type : seen) {
    kind.See(type);
  }
  return kind.name();
}

TEST(NumberKind, WhatPandasMakesOfAColumn) {
  using enum LooseType;
  EXPECT_EQ(NameOf({kInt}), "int");
  EXPECT_EQ(NameOf({kInt, kFloat}), "float");
  EXPECT_EQ(NameOf({kInt, kNull}), "float");
  EXPECT_EQ(NameOf({kInt, kOther}), "object");
  EXPECT_EQ(NameOf({kNull}), "object");
}

}  // namespace
}  // namespace borescope::internal
