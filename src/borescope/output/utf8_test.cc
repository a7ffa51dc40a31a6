#include "borescope/output/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace borescope::internal {
namespace {

TEST(Utf8, CommandsOfBuildServersAreNone) {
  EXPECT_EQ(ToPrintable("::error file=a::b"), "\uFFFD:error file=a::b");
  EXPECT_EQ(ToPrintable("x\n::stop-commands::y"), "x \uFFFD:stop-commands::y");
  EXPECT_EQ(ToPrintable("::Error::x"), "\uFFFD:Error::x");
  EXPECT_EQ(ToPrintable("::ADD-MASK::1"), "\uFFFD:ADD-MASK::1");
  EXPECT_EQ(ToPrintable("a##VSO[task.complete]"), "a\uFFFD#VSO[task.complete]");
  // White space that GitHub removes before it looks.
  for (const std::string blank : {"\u00A0", "\u1680", "\u2003", "\u202F", "\u205F", "\u3000"}) {
    EXPECT_EQ(ToPrintable(blank + "::error::x"), blank + "\uFFFD:error::x");
    EXPECT_EQ(ToPrintable("a" + blank + " " + blank + "::error::x"),
              "a" + blank + " " + blank + "\uFFFD:error::x");
  }
  EXPECT_EQ(ToPrintable("a ##vso[task.setvariable]b"), "a \uFFFD#vso[task.setvariable]b");
  EXPECT_EQ(ToPrintable("##teamcity[x]"), "\uFFFD#teamcity[x]");
  for (const char* const name :
       {"::at::native::f", "a::error b", "::errors ", "# #[a]", "::error"}) {
    EXPECT_EQ(ToPrintable(name), name);
  }
}

TEST(Utf8, NothingReachesTheTerminalButText) {
  EXPECT_EQ(ToPrintable("a\tb\nc\rd"), "a b c d");
  EXPECT_EQ(ToPrintable("\x1b[31mred\x7f\u0085"), "\uFFFD[31mred\uFFFD\uFFFD");
}

// Bidirectional controls, joiners, marks of byte order and of language, separators, noncharacters.
TEST(Utf8, WhatHidesOrReordersIsReplaced) {
  for (const char32_t value :
       {U'\u00AD', U'\u034F', U'\u061C',     U'\u115F',     U'\u180E',     U'\u200B',    U'\u200D',
        U'\u200E', U'\u200F', U'\u2028',     U'\u2029',     U'\u202A',     U'\u202B',    U'\u202C',
        U'\u202D', U'\u202E', U'\u2060',     U'\u2061',     U'\u2064',     U'\u2066',    U'\u2067',
        U'\u2068', U'\u2069', U'\u206F',     U'\u3164',     U'\uFEFF',     U'\uFFA0',    U'\uFFF9',
        U'\uFFFE', U'\uFDD0', U'\U0001D173', U'\U000E0001', U'\U000E0041', U'\U0010FFFF'}) {
    std::string text = "a";
    AppendUtf8(text, value);
    text += "z";
    EXPECT_EQ(ToPrintable(text), "a\uFFFDz") << std::hex << static_cast<uint32_t>(value);
    EXPECT_EQ(DisplayWidth(ToPrintable(text)), 3U);
  }
}

// The neighbours of those, letters that join, and variation selectors.
TEST(Utf8, WhatIsSeenStays) {
  for (const std::string text :
       {"\u00AC\u00AE", "\u00B5s", "\u2026\u2030", "\u2010\u2027\u202F", "\u205F\u2070",
        "\uFEFC\uFF01", "\u0628\u05D0", "e\u0301", "\u2708\uFE0F", "\U0001F600", "\uE000"}) {
    EXPECT_EQ(ToPrintable(text), text);
  }
  EXPECT_EQ(DisplayWidth("\u2708\uFE0F\U000E0100"), 1U);
}

TEST(Utf8, WidthCountsCells) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("abc"), 3U);
  EXPECT_EQ(DisplayWidth("漢字"), 4U);
  EXPECT_EQ(DisplayWidth("e\u0301…"), 2U);
}

TEST(Utf8, ShorteningKeepsBothEnds) {
  EXPECT_EQ(ShortenMiddle("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(ShortenMiddle("abcdefgh", 7), "abc…fgh");
  EXPECT_EQ(ShortenMiddle("abcdefgh", 6), "abc…gh");
  EXPECT_EQ(ShortenMiddle("abcdefgh", 1), "…");
  EXPECT_EQ(ShortenMiddle("abcdefgh", 0), "");
  // A wide character that does not fit any more leaves a cell unused, never half of itself.
  EXPECT_EQ(ShortenMiddle("漢字漢字漢字", 6), "漢…字");
  for (size_t width = 0; width < 14; ++width) {
    EXPECT_LE(DisplayWidth(ShortenMiddle("漢a字b漢c字d", width)), width);
  }
}

// Time in proportion to the length: 4 MB would take minutes otherwise.
TEST(WrapText, OfLongWordsIsLinear) {
  const std::string word(size_t{4} << 20, 'x');
  const std::vector<std::string> lines = WrapText(word, 64);
  EXPECT_EQ(lines.size(), word.size() / 64);
  EXPECT_EQ(lines.back(), std::string(64, 'x'));
}

TEST(Utf8, WrapsAtBlanksAndCutsLongWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(WrapText("", 5), (Lines{""}));
  EXPECT_EQ(WrapText("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(WrapText("abcdefgh ij", 3), (Lines{"abc", "def", "gh", "ij"}));
  EXPECT_EQ(WrapText("漢字漢", 3), (Lines{"漢", "字", "漢"}));
  EXPECT_EQ(WrapText("漢", 1), (Lines{"漢"}));
  // All lines but the first have less room, for an indent.
  EXPECT_EQ(WrapText("one two three four", 9, 3), (Lines{"one two", "three", "four"}));
  EXPECT_EQ(WrapText("abcdefgh ij", 4, 2), (Lines{"abcd", "ef", "gh", "ij"}));
}

TEST(Utf8, ABareNameHasNoParameters) {
  EXPECT_EQ(BareName("void at::copy<int>(int, float)"), "at::copy<int>");
  EXPECT_EQ(BareName("void at::(anonymous namespace)::copy(int)"),
            "at::(anonymous namespace)::copy");
  EXPECT_EQ(BareName("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(BareName(")))"), ")))");
}

TEST(Utf8, WordsAreNotCutWhereThereAreShorterOnes) {
  EXPECT_EQ(ShortenMiddle("Memcpy HtoD (Pinned -> Device)", 20), "Memcpy … Device)");
  EXPECT_EQ(ShortenMiddle("at::native::vectorized(float)", 20), "at::native…float)");
  const std::string name = "at::native::vectorized_elementwise_kernel<漢字, 8>";
  for (size_t width = 1; width < 50; ++width) {
    const std::string shorter = ShortenMiddle(name, width);
    EXPECT_LE(DisplayWidth(shorter), width);
    EXPECT_EQ(ToPrintable(shorter), shorter);  // valid UTF-8
  }
  using Lines = std::vector<std::string>;
  EXPECT_EQ(WrapText("at::native::vectorized_kernel", 14),
            (Lines{"at::native::", "vectorized_", "kernel"}));
  EXPECT_EQ(WrapText("a::bcdefghijk", 8), (Lines{"a::bcdef", "ghijk"}));
}

TEST(Utf8, NoLineOfALongWordIsACommand) {
  for (size_t before = 1; before < 24; ++before) {
    const std::string word = std::string(before, 'x') + "::error::y";
    for (const std::string& line : WrapText(word, 8)) {
      EXPECT_FALSE(IsLineCommand(line)) << line;
    }
  }
}

}  // namespace
}  // namespace borescope::internal
