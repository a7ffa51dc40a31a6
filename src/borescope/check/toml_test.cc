#include "borescope/check/toml.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace borescope::internal {

namespace {

// As one line: {a="x", b=[1, 2.5, true]}.
std::string Show(const TomlValue& value) {
  if (const auto* text = value.As<std::string>()) return '"' + *text + '"';
  if (const auto* whole = value.As<int64_t>()) return std::to_string(*whole);
  if (const auto* number = value.As<double>()) return std::to_string(*number);
  if (const auto* flag = value.As<bool>()) return *flag ? "true" : "false";
  std::string shown;
  if (const auto* list = value.As<TomlArray>()) {
    for (const TomlValue& item : *list) shown += (shown.empty() ? "" : ", ") + Show(item);
    return '[' + shown + ']';
  }
  for (const auto& [key, member] : *value.As<TomlTable>()) {
    shown += (shown.empty() ? "" : ", ") + key + "=" + Show(member);
  }
  return '{' + shown + '}';
}

std::string Parsed(const std::string& text) {
  Result<TomlTable> table = ParseToml(text);
  return table.ok() ? Show({std::move(*table), 1}) : table.error().Sentence();
}

TEST(TomlTest, ValuesOfEveryKind) {
  EXPECT_EQ(Parsed("a = 1 # one\nb = -2.5e3\nc=true\n d = 'x\\n'\ne = \"x\\t\\u00e9\"\n"),
            "{a=1, b=-2500.000000, c=true, d=\"x\\n\", e=\"x\té\"}");
  EXPECT_EQ(Parsed("a = 1_000\nb = +7\nc = 0.5"), "{a=1000, b=7, c=0.500000}");
  EXPECT_EQ(Parsed("a = [1, # one\n 2,\n]\nb = [[1], {c = 2}]"), "{a=[1, 2], b=[[1], {c=2}]}");
  EXPECT_EQ(Parsed("a = {b = 1, c.d = 'x'}"), "{a={b=1, c={d=\"x\"}}}");
  EXPECT_EQ(Parsed("a = \"\"\"\nselect\n  1\"\"\"\nb = '''it's'''\nc = \"\"\"a\\\n   b\"\"\""),
            "{a=\"select\n  1\", b=\"it's\", c=\"ab\"}");
  EXPECT_EQ(Parsed("\"a b\".'c' = 1\r\nd = 2\r\n"), "{a b={c=1}, d=2}");
}

TEST(TomlTest, TablesAndArraysOfTables) {
  EXPECT_EQ(Parsed("[a]\nx=1\n[a.b]\ny=2\n[[c]]\nz=1\n[c.d]\nw=1\n[[c]]\nz=2"),
            "{a={x=1, b={y=2}}, c=[{z=1, d={w=1}}, {z=2}]}");
  EXPECT_EQ(Parsed("\xef\xbb\xbf# only a comment"), "{}");
}

TEST(TomlTest, ErrorsNameTheLine) {
  EXPECT_TRUE(Parsed("a = 1\nb = \n").starts_with("line 2: a value is expected"));
  EXPECT_TRUE(Parsed("d = 2026-11-25").starts_with("line 1: a value is expected"));
  EXPECT_EQ(Parsed("a = 1\na = 2"), "line 2: 'a' is there twice");
  EXPECT_EQ(Parsed("a = 'x"), "line 1: a text does not end");
  EXPECT_EQ(Parsed("\n\na = \"x\ny\""),
            "line 3: a string does not end on its line, or contains a control character");
  EXPECT_EQ(Parsed("a = \"\\q\""),
            "line 1: a backslash in a string does not begin an escape; '...' takes it as it is");
  EXPECT_EQ(Parsed("a = 1 b = 2"),
            "line 1: there is text after a value or a heading on the same line");
  EXPECT_EQ(Parsed("[a"), "line 1: a heading ends with ]");
  EXPECT_EQ(Parsed("a = {b=1}\n[a.c]"), "line 2: 'a' is not a table that can be added to");
  EXPECT_EQ(Parsed("a = []\n[[a]]"), "line 2: 'a' is something else than a list of [[a]]");
  EXPECT_EQ(Parsed("a = 1\n[a.b]"), "line 2: 'a' is not a table that can be added to");
  EXPECT_TRUE(Parsed("= 1").starts_with("line 1: a key is expected"));
  EXPECT_EQ(Parsed("a"), "line 1: a key is followed by = and a value");
  EXPECT_EQ(Parsed("a = \"\\ud800\""),
            "line 1: a backslash in a string does not begin an escape; '...' takes it as it is");
  for (const char* const number :
       {"01", ".5", "5.", "1__0", "_1", "0x10", "1e999", "inf", "nan", "--1"}) {
    EXPECT_TRUE(Parsed("a = " + std::string(number)).starts_with("line 1: a value")) << number;
  }
}

TEST(TomlTest, HostileTextIsAnErrorInTime) {
  EXPECT_EQ(Parsed("a = " + std::string(1 << 20, '[')),
            "line 1: lists and tables are nested too deep");
  EXPECT_EQ(Parsed(std::string(1 << 20, '[')).substr(0, 7), "line 1:");
  EXPECT_EQ(Parsed("a" + std::string(1 << 20, '.')).substr(0, 7), "line 1:");
  std::string keys;
  std::string dotted;
  for (int i = 0; i < 50000; ++i) {
    keys += "k" + std::to_string(i) + "=1\n";
    dotted += "a.";
  }
  EXPECT_EQ(Parsed(keys), "line 1001: a table has too many keys");
  EXPECT_EQ(Parsed(dotted + "a=1"), "line 1: keys have too many parts");
  EXPECT_EQ(Parsed("a = '\xff'"), "line 1: the file is no text in UTF-8");
  EXPECT_EQ(Parsed(std::string("a = '\0'", 7)).substr(0, 7), "line 1:");
}

// Any change of a good text is read or refused.
TEST(TomlTest, AnyBytesEnd) {
  const std::string good =
      "[[budget]]\nname = \"x\\n\"\nwhere = {a = '>=3', b = [1, 'c']}\nmax = 3.5\n[q]\na.b = "
      "true\n";
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (uint32_t change = random() % 4; change < 4; ++change) {
      const size_t at = random() % text.size();
      const std::string_view bytes =
          "[]{}=.,\"'\\#\n \x80"
          "a1";
      text[at] = bytes[random() % bytes.size()];
    }
    read += ParseToml(text).ok() ? 1 : 0;
  }
  EXPECT_GT(read, 100);
  EXPECT_LT(read, 19000);
}

}  // namespace

}  // namespace borescope::internal
