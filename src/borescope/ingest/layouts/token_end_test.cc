#include "borescope/ingest/layouts/token_end.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "borescope/base/text/text.h"
#include "borescope/ingest/events/event_parser.h"

namespace borescope::internal {

namespace {

using Bytes = std::array<char, ByteBlock::kBytes>;

// All bytes from `first` on, each followed by the next.
Bytes BytesFrom(int first) {
  Bytes bytes{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(first + static_cast<int>(i));
  }
  return bytes;
}

TEST(ByteBlockTest, AnswersAsItsTwinForEveryByte) {
  for (int first = 0; first < 256; first += static_cast<int>(ByteBlock::kBytes)) {
    const Bytes bytes = BytesFrom(first);
    Bytes others = bytes;
    others[static_cast<size_t>(first / 32)] ^= 1;
    const ByteBlock block(bytes.data());
    const PlainBlock plain(bytes.data());
    EXPECT_EQ(block.EndsNumber(), plain.EndsNumber()) << first;
    EXPECT_EQ(block.EndsPlainText(), plain.EndsPlainText()) << first;
    EXPECT_EQ(block.EndsPlainList(), plain.EndsPlainList()) << first;
    EXPECT_EQ(block.Equals(ByteBlock(others.data())), plain.Equals(PlainBlock(others.data())));
    EXPECT_EQ(plain.Equals(PlainBlock(others.data())), ~(uint32_t{1} << (first / 32)));
  }
}

using End = const char* (*)(const char*, const char*);

// How long the value at the start of `text` is found to be; -1 for null. The text lies in a block
// of exactly its size and the padding.
int LengthBy(End end_of, const std::string& text) {
  std::vector<char> padded(text.begin(), text.end());
  padded.insert(padded.end(), kTextPadding, ' ');
  const char* end = end_of(padded.data(), padded.data() + text.size());
  return end == nullptr ? -1 : static_cast<int>(end - padded.data());
}

int ScalarLength(const std::string& text) { return LengthBy(ScalarEnd, text); }
int StringLength(const std::string& text) { return LengthBy(StringEnd, text); }
int ContainerLength(const std::string& text) { return LengthBy(ContainerEnd, text); }

TEST(TokenEndTest, ScalarsEndAtASeparator) {
  EXPECT_EQ(ScalarLength("12,"), 2);
  EXPECT_EQ(ScalarLength("-1.5e+3}"), 7);
  EXPECT_EQ(ScalarLength("null\n"), 4);
  EXPECT_EQ(ScalarLength("1/2]"), 3);
  EXPECT_EQ(ScalarLength("12\"3"), 2);
  EXPECT_EQ(ScalarLength("12\\3"), 2);
  EXPECT_EQ(ScalarLength("12\xc3\xa9"), 2);
  for (const char* none : {"", ",", "\"a\"", "[1]", "{}", " 1"}) {
    EXPECT_EQ(ScalarLength(none), 0) << none;
  }
}

TEST(TokenEndTest, ScalarsOfAnyLength) {
  for (size_t size = 1; size < 100; ++size) {
    const std::string digits(size, '7');
    for (const char* after : {"", ",", "}", "\n", "\r\n", " ,", "\t"}) {
      EXPECT_EQ(ScalarLength(digits + after), static_cast<int>(size)) << size << after;
    }
  }
}

TEST(TokenEndTest, StringsEndAtTheFirstQuoteThatIsNotEscaped) {
  EXPECT_EQ(StringLength("\"x"), 0);
  EXPECT_EQ(StringLength("ab\",\"c\""), 2);
  EXPECT_EQ(StringLength(R"(a\"b",)"), 4);
  EXPECT_EQ(StringLength(R"(a\\",")"), 3);
  EXPECT_EQ(StringLength("\xc3\xa9\""), 2);
}

TEST(TokenEndTest, StringsThatAreNotSoundHaveNoEnd) {
  for (const char* text :
       {"", "abc", R"(a\")", R"(a\)", "a\nb\"", "a\\\nb\"", "\xff\"", "\xc3\""}) {
    EXPECT_EQ(StringLength(text), -1) << text;
  }
  EXPECT_EQ(StringLength(std::string("a\0b\"", 4)), -1);
}

// The slow way to find the end of a string.
int SlowStringLength(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      return IsValidUtf8(text.substr(0, i)) ? static_cast<int>(i) : -1;
    }
    if (text[i] == '\\' && ++i == text.size()) {
      return -1;
    }
    if (static_cast<unsigned char>(text[i]) < 0x20) {
      return -1;
    }
  }
  return -1;
}

TEST(TokenEndTest, StringsAgreeWithTheSlowWayAtEveryPlaceOfABlock) {
  for (const std::string middle :
       {"", "\\\"", "\\\\", "\\n", "\x1f", "\xc3\xa9", "\xc3", "\x7f", "'"}) {
    for (size_t before = 0; before < 70; ++before) {
      for (const size_t after : {0, 1, 31, 40}) {
        const std::string text = std::string(before, 'a') + middle + std::string(after, 'b');
        EXPECT_EQ(StringLength(text + "\"}"), SlowStringLength(text + "\"}")) << text;
        EXPECT_EQ(StringLength(text), SlowStringLength(text)) << text;
      }
    }
  }
}

TEST(TokenEndTest, ContainersEndAtTheirOwnBracket) {
  for (const char* text : {"[]", "[1, 2]", "[[1],[]]", R"(["]", "a[b", "\"]"])", R"({"a": [{}]})",
                           "[\n  1,\r\n\t2 ]", R"(["a" , "b"
])"}) {
    EXPECT_EQ(ContainerLength(text), static_cast<int>(std::string(text).size())) << text;
    EXPECT_EQ(ContainerLength(std::string(text) + "],"),
              static_cast<int>(std::string(text).size()));
  }
}

TEST(TokenEndTest, ContainersThatAreNotSoundHaveNoEnd) {
  for (const char* text : {"[", "[[]", "[}", "[{]}", "[\"a\"", "[\"a\" \"b\"]", "[\"a\"1]", "[\\]",
                           "[\x01]", "[\xff]", "[|]", "[\"\n\"]"}) {
    EXPECT_EQ(ContainerLength(text), -1) << text;
  }
}

TEST(TokenEndTest, ContainersMayBeLongButNotDeep) {
  for (size_t depth = 1; depth < 80; ++depth) {
    const std::string text = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_EQ(ContainerLength(text), depth <= 64 ? static_cast<int>(text.size()) : -1) << depth;
  }
  std::string list = "[0";
  for (int i = 1; i < 200; ++i) {
    list += ", \"" + std::string(static_cast<size_t>(i) % 37, 'x') + "\", " + std::to_string(i);
    EXPECT_EQ(ContainerLength(list + "]"), static_cast<int>(list.size()) + 1) << i;
  }
}

}  // namespace

}  // namespace borescope::internal
