#include "borescope/output/charts/scale.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

using Numbers = std::vector<double>;

TEST(TicksTest, AreRoundAndCoverTheRange) {
  EXPECT_EQ(Ticks(10, 5), (Numbers{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(Ticks(9.9, 5), (Numbers{0, 2, 4, 6, 8}));
  EXPECT_EQ(Ticks(1'234, 4), (Numbers{0, 500, 1'000}));
  EXPECT_EQ(Ticks(3, 1), (Numbers{0}));  // the next step, 5, is beyond
}

TEST(TicksTest, OfNothingThereAreNone) {
  EXPECT_TRUE(Ticks(0, 4).empty());
  EXPECT_TRUE(Ticks(-1, 4).empty());
  EXPECT_TRUE(Ticks(5, 0).empty());
  EXPECT_TRUE(Ticks(std::numeric_limits<double>::infinity(), 4).empty());
  EXPECT_TRUE(Ticks(std::numeric_limits<double>::quiet_NaN(), 4).empty());
}

TEST(TicksTest, OfWholeNumbersAreWhole) {
  EXPECT_EQ(WholeTicks(2, 6), (Numbers{0, 1, 2}));
  EXPECT_EQ(WholeTicks(1, 6), (Numbers{0, 1}));
  EXPECT_EQ(WholeTicks(12, 6), (Numbers{0, 2, 4, 6, 8, 10, 12}));
  EXPECT_TRUE(WholeTicks(0, 6).empty());
}

// Never more than a few beyond what was asked for, whatever the range.
TEST(TicksTest, AreFew) {
  for (double largest = 1e-12; largest < 1e18; largest *= 1.37) {
    const Numbers ticks = Ticks(largest, 6);
    EXPECT_LE(ticks.size(), 7U) << largest;
    EXPECT_GE(ticks.size(), 3U) << largest;
    EXPECT_LE(ticks.back(), largest * (1 + 1e-9));
  }
}

TEST(TicksTest, ShowAsManyDecimalsAsTellThemApart) {
  const Numbers halves = {0, 500'000, 1'000'000};
  EXPECT_EQ(FormatValue(halves[1], TickFormat(Unit::kNanoseconds, halves)), "0.5");
  const Numbers whole = {0, 2'000'000, 4'000'000};
  EXPECT_EQ(FormatValue(whole[1], TickFormat(Unit::kNanoseconds, whole)), "2");
  const Numbers shares = {0, 0.5, 1};
  EXPECT_EQ(FormatValue(shares[1], TickFormat(Unit::kShare, shares)), "50");
}

TEST(AmountTest, HasItsUnit) {
  EXPECT_EQ(Amount(1'500, AmountFormat(Unit::kNanoseconds, 1'500, true)), "1.500\u00A0\u00B5s");
  EXPECT_EQ(Amount(7, AmountFormat(Unit::kCount, 7, true)), "7");
  EXPECT_EQ(ShareText(1, 8), "12.5\u00A0%");
  EXPECT_EQ(ShareText(1, 10'000), "<0.1\u00A0%");
  EXPECT_EQ(ShareText(1, 0), "\u2013");
}

TEST(PlacePartsTest, PartsFollowOneAnotherAndSumToTheWhole) {
  const Numbers lengths = {3, 0, 1.5, 5.5};
  const std::vector<Stretch> parts = PlaceParts(lengths, 100, 7);
  ASSERT_EQ(parts.size(), lengths.size());
  double at = 100;
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_DOUBLE_EQ(parts[i].begin, at);
    EXPECT_DOUBLE_EQ(parts[i].length, lengths[i] * 7);
    at += parts[i].length;
  }
  EXPECT_DOUBLE_EQ(at, 100 + 10 * 7);
}

TEST(LogAxisTest, PowersOfTenLieEvenly) {
  const LogAxis axis{-1, 3, 50, 400};
  EXPECT_DOUBLE_EQ(axis.At(0.1), 50);
  EXPECT_DOUBLE_EQ(axis.At(1), 150);
  EXPECT_DOUBLE_EQ(axis.At(1'000), 450);
  const LogAxis upward{0, 2, 300, -200};
  EXPECT_DOUBLE_EQ(upward.At(1), 300);
  EXPECT_DOUBLE_EQ(upward.At(100), 100);
}

TEST(WithMicroSigns, OnlyUnitsOfNumbers) {
  EXPECT_EQ(WithMicroSigns("less than 100 us each; 5.2 us"),
            "less than 100 \u00B5s each; 5.2 \u00B5s");
  EXPECT_EQ(WithMicroSigns("12 users, of us, 3 us_x, us"), "12 users, of us, 3 us_x, us");
  EXPECT_EQ(WithMicroSigns(""), "");
}

TEST(FitTextTest, NeverExceedsItsWidth) {
  const std::string name = "void at::native::vectorized_elementwise_kernel<4, Wm>(int, mWmW)";
  for (double width = 0; width < 400; width += 13) {
    EXPECT_LE(TextWidth(FitText(name, width, 12), 12), width);
    EXPECT_LE(MonoWidth(FitMono(name, width, 12), 12), width);
  }
  EXPECT_EQ(FitText(name, 4'000, 12), name);
  EXPECT_EQ(FitText(name, 0, 12), "");
}

// The mark for what is left out is wider than the three characters it would replace.
TEST(FitTextTest, WhatFitsIsWhole) {
  for (const std::string_view text : {"rank 0 \u00B7 gpu 0", "iiii", "a.b", ""}) {
    EXPECT_EQ(FitText(text, TextWidth(text, 12), 12), text);
  }
}

TEST(FitTextTest, KeepsBothEnds) {
  const std::string fitted = FitText("ampere_sgemm_128x64_tn_with_a_long_middle_part_end", 160, 12);
  EXPECT_TRUE(fitted.starts_with("ampere"));
  EXPECT_TRUE(fitted.ends_with("end"));
  EXPECT_NE(fitted.find("\u2026"), std::string::npos);
}

TEST(TextWidthTest, WideCharactersCount) {
  EXPECT_GT(TextWidth("\u6838\u5fc3", 10), TextWidth("ab", 10));
  EXPECT_GT(TextWidth("WW", 10), TextWidth("ii", 10));
  EXPECT_EQ(TextWidth("", 10), 0);
}

}  // namespace
}  // namespace borescope::internal
