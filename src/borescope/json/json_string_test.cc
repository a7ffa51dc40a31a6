#include "borescope/json/json_string.h"

#include <gtest/gtest.h>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

using namespace std::string_literals;

const std::string kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string Decode(std::string_view raw, StringRepairs& repairs) {
  std::string scratch;
  return std::string(DecodeString(raw, scratch, repairs));
}

// For text that needs no repair.
std::string DecodeClean(std::string_view raw) {
  StringRepairs repairs;
  std::string text = Decode(raw, repairs);
  EXPECT_FALSE(repairs.invalid_utf8 || repairs.control || repairs.bad_escape) << raw;
  return text;
}

TEST(DecodeStringTest, PlainTextIsNotCopied) {
  const std::string_view raw = "at::native::add<float, 4>";
  std::string scratch = "untouched";
  StringRepairs repairs;
  EXPECT_EQ(DecodeString(raw, scratch, repairs).data(), raw.data());
  EXPECT_EQ(scratch, "untouched");
  EXPECT_EQ(DecodeClean(""), "");
}

TEST(DecodeStringTest, EveryShortEscape) {
  EXPECT_EQ(DecodeClean(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(DecodeClean(R"(C:\\temp\\n)"), R"(C:\temp\n)");
}

TEST(DecodeStringTest, UnicodeEscapesOfEveryLength) {
  EXPECT_EQ(DecodeClean(R"(\u0041\u00e9\u20ac\u007f\u07ff\u0800)"),
            "A\u00e9\u20ac\x7f\u07ff\u0800");
  EXPECT_EQ(DecodeClean(R"(\uABCD\uabcd)"), "\uabcd\uabcd");
  EXPECT_EQ(DecodeClean(R"(a\u0000b)"), "a\0b"s);
  EXPECT_EQ(DecodeClean(R"(\ud7ff\ue000\uffff)"), "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf");
}

TEST(DecodeStringTest, SurrogatePairsAreOneCharacter) {
  EXPECT_EQ(DecodeClean(R"(\ud83d\ude00)"), "\U0001f600");
  EXPECT_EQ(DecodeClean(R"(\uD800\uDC00)"), "\U00010000");
  EXPECT_EQ(DecodeClean(R"(\uDBFF\uDFFF)"), "\U0010ffff");
}

TEST(DecodeStringTest, LoneSurrogatesAreReplaced) {
  for (const char* raw : {R"(\ud83d)", R"(\udc00)", R"(\ude00)"}) {
    StringRepairs repairs;
    EXPECT_EQ(Decode(raw, repairs), kReplacement) << raw;
    EXPECT_TRUE(repairs.invalid_utf8);
  }
  StringRepairs repairs;
  EXPECT_EQ(Decode(R"(\ud83dx)", repairs), kReplacement + "x");
  EXPECT_EQ(Decode(R"(\ud83d\n)", repairs), kReplacement + "\n");
  EXPECT_EQ(Decode(R"(\ud83d\u0041)", repairs), kReplacement + "A");
  EXPECT_EQ(Decode(R"(\ud83d\ud83d\ude00)", repairs), kReplacement + "\U0001f600");
  EXPECT_EQ(Decode(R"(\ude00\ud83d)", repairs), kReplacement + kReplacement);
  EXPECT_FALSE(repairs.bad_escape);
}

// Windows paths were written raw: the backslash is kept, the rest is text.
TEST(DecodeStringTest, BackslashesThatEscapeNothingAreKept) {
  const std::string_view cases[][2] = {{R"(C:\Users)", R"(C:\Users)"},
                                       {R"(\x41)", R"(\x41)"},
                                       {R"(\u12)", R"(\u12)"},
                                       {R"(\u12g4)", R"(\u12g4)"},
                                       {"\\", "\\"},
                                       {R"(\u)", R"(\u)"},
                                       {R"(end\)", R"(end\)"},
                                       {R"(\U0041)", R"(\U0041)"}};
  for (const auto& [raw, text] : cases) {
    StringRepairs repairs;
    EXPECT_EQ(Decode(raw, repairs), text);
    EXPECT_TRUE(repairs.bad_escape) << raw;
    EXPECT_FALSE(repairs.invalid_utf8) << raw;
  }
}

TEST(DecodeStringTest, Utf8PassesThrough) {
  const std::string text = "\x7f \u00e9 \u20ac \U0001f600 \u0800 \U0010ffff";
  EXPECT_EQ(DecodeClean(text), text);
}

// Each byte that belongs to no sequence becomes one replacement character; valid text around it
// stays.
TEST(DecodeStringTest, OtherBytesAreReplacedOneByOne) {
  const std::string_view cases[] = {
      "\xff",              // never a lead
      "\x80",              // continuation without lead
      "\xc0\xaf",          // overlong '/'
      "\xc1\x81",          // overlong
      "\xe0\x80\xaf",      // overlong in three
      "\xf0\x80\x80\xaf",  // overlong in four
      "\xed\xa0\x80",      // a surrogate
      "\xf4\x90\x80\x80",  // above U+10FFFF
      "\xf5\x80\x80\x80",  // above U+10FFFF
      "\xe2\x82",          // cut short
      "\xc3",              // cut short
  };
  for (const std::string_view bytes : cases) {
    StringRepairs repairs;
    std::string want = "a";
    for (size_t i = 0; i < bytes.size(); ++i) {
      want += kReplacement;
    }
    EXPECT_EQ(Decode("a" + std::string(bytes) + "b", repairs), want + "b");
    EXPECT_TRUE(repairs.invalid_utf8);
    EXPECT_FALSE(IsValidUtf8(bytes));
  }
  StringRepairs repairs;
  EXPECT_EQ(Decode("\xe2(\x82\u00e9", repairs), kReplacement + "(" + kReplacement + "\u00e9");
}

TEST(DecodeStringTest, RawControlCharactersAreKeptAndSaid) {
  StringRepairs repairs;
  EXPECT_EQ(Decode("a\nb\tc\x01", repairs), "a\nb\tc\x01");
  EXPECT_TRUE(repairs.control);
  EXPECT_FALSE(repairs.invalid_utf8 || repairs.bad_escape);
}

// For any bytes the result is valid UTF-8, and valid text without escapes is unchanged.
TEST(DecodeStringTest, TheResultIsAlwaysUtf8) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      for (const unsigned c : {0x20U, 0x5cU, 0x80U, 0xbfU, 0xc2U, 0xe0U, 0xedU, 0xf4U, 0xffU}) {
        const char bytes[] = {static_cast<char>(a), static_cast<char>(b), static_cast<char>(c)};
        const std::string_view raw(bytes, 3);
        StringRepairs repairs;
        const std::string text = Decode(raw, repairs);
        ASSERT_TRUE(IsValidUtf8(text));
        ASSERT_EQ(repairs.invalid_utf8, !IsValidUtf8(raw));
        if (IsValidUtf8(raw) && raw.find('\\') == std::string_view::npos) {
          ASSERT_EQ(text, raw);
        }
      }
    }
  }
}

TEST(FindClosingQuoteTest, EscapesAreNoEnd) {
  EXPECT_EQ(FindClosingQuote(R"("a")", 1), 2U);
  EXPECT_EQ(FindClosingQuote(R"("\\\"" b")", 1), 5U);
  for (const std::string_view text : {"\"abc", "\"a\\", "\"a\\\"", ""}) {
    EXPECT_EQ(FindClosingQuote(text, 1), text.size()) << text;
  }
}

TEST(StringTextTest, OnlyStringsSaySomething) {
  EXPECT_EQ(StringContent(R"("a\n")"), R"(a\n)");
  EXPECT_EQ(StringText(R"("a\n\ud83d")"), "a\n" + kReplacement);
  for (const char* text : {"", "\"", "12", "null", "[\"a\"]"}) {
    EXPECT_FALSE(IsString(text));
    EXPECT_EQ(StringText(text), "");
  }
}

}  // namespace
}  // namespace borescope::internal
