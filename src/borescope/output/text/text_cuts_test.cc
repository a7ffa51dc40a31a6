#include "borescope/output/text/text_cuts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

const std::string kLong(400, 'x');

TEST(CutApart, CutsAsAlwaysWhereThatTellsNamesApart) {
  const Names names{"a_" + kLong, "b_" + kLong, "short"};
  EXPECT_EQ(CutApart(names, 20), CutEach(names, 20));
  EXPECT_TRUE(AreApart(names, CutEach(names, 20)));
}

// Kernels of CUTLASS and Triton have such names.
TEST(CutApart, LeavesWholeWhatWouldLookAlike) {
  const std::string around(50, 'x');
  const Names names{around + "_16x16_" + around, around + "_32x32_" + around, "other" + around};
  EXPECT_FALSE(AreApart(names, CutEach(names, 40)));
  EXPECT_EQ(CutApart(names, 40), (Names{names[0], names[1], ShortenName(names[2], 40)}));
}

TEST(CutApart, NamesWithoutTheirParametersTellEnough) {
  const std::string around(30, 'x');
  EXPECT_EQ(CutApart({"void " + around + "_16x16_" + around + "(Parameters)",
                      "void " + around + "_32x32_" + around + "(Parameters)"},
                     40),
            (Names{around + "_16x16_" + around, around + "_32x32_" + around}));
  EXPECT_EQ(
      CutApart({around + "(int)" + around + "(float)", around + "(int)" + around + "(int)"}, 40),
      (Names{around + "(int)" + around + "(float)", around + "(int)" + around + "(int)"}));
}

TEST(CutApart, LongNamesAreCutAroundWhereTheyDiffer) {
  EXPECT_EQ(
      CutApart({"begin" + kLong + "_16x16_" + kLong, "begin" + kLong + "_32x32_" + kLong}, 31),
      (Names{"beginxxxxx…xxxx_16x16_xxxxxxxx…", "beginxxxxx…xxxx_32x32_xxxxxxxx…"}));
}

TEST(CutApart, LongNamesThatDifferAtSeveralPlacesShowThemAll) {
  Names names;
  for (const char* first : {"_1_", "_2_"}) {
    for (const char* second : {"_3_", "_4_"}) {
      names.push_back("begin" + kLong + first + kLong + second + kLong);
    }
  }
  const Names shown = CutApart(names, 40);
  EXPECT_TRUE(AreApart(names, shown));
  EXPECT_NE(shown[2].find("x_2_x"), std::string::npos) << shown[2];
  EXPECT_NE(shown[2].find("x_3_x"), std::string::npos) << shown[2];
  EXPECT_LE(DisplayWidth(shown[2]), 80U);
}

// Names made of few pieces differ anywhere.
std::string RandomName(std::mt19937& random) {
  const Names pieces{"void ", "<a, b>", "x", "(int)", "é", "漢", kLong.substr(0, 30), kLong, "_7_"};
  std::string name;
  for (size_t length = random() % 9; length > 0; --length) {
    name += pieces[random() % pieces.size()];
  }
  return name;
}

TEST(CutApart, WhatDiffersLooksDifferentAndWhatIsEqualLooksEqual) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Names names;
    for (size_t count = 1 + random() % 40; count > 0; --count) {
      names.push_back(RandomName(random));
    }
    const Names shown = CutApart(names, 16 + random() % 100);
    ASSERT_EQ(shown.size(), names.size());
    EXPECT_TRUE(AreApart(names, shown)) << "round " << round;
    EXPECT_TRUE(AreApart(shown, names)) << "round " << round;
  }
}

}  // namespace
}  // namespace borescope::internal
