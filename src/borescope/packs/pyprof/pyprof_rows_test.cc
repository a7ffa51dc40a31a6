#include "borescope/packs/pyprof/pyprof_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "borescope/packs/pyprof/markers.h"

namespace borescope::internal {

namespace {

// As repr() of Python 3 writes them.
TEST(PythonReprTest, QuotesAndEscapesAsPythonDoes) {
  EXPECT_EQ(PythonRepr(""), "''");
  EXPECT_EQ(PythonRepr("conv2d, seq = 5"), "'conv2d, seq = 5'");
  EXPECT_EQ(PythonRepr("it's"), "\"it's\"");
  EXPECT_EQ(PythonRepr("say \"hi\""), "'say \"hi\"'");
  EXPECT_EQ(PythonRepr("it's \"hi\""), "'it\\'s \"hi\"'");
  EXPECT_EQ(PythonRepr("a\\b"), "'a\\\\b'");
  EXPECT_EQ(PythonRepr("a\n\r\tb"), "'a\\n\\r\\tb'");
  EXPECT_EQ(PythonRepr("\x01\x7f"), "'\\x01\\x7f'");
  EXPECT_EQ(PythonRepr("\xC3\xA4"), "'\xC3\xA4'");
}

// The reader of markers is its inverse.
TEST(PythonReprTest, IsReadBack) {
  for (const std::string text : {"", "'", "\"", "'\"", "\\", "\\'", "a\nb", "{'mod': \"it's\"}"}) {
    const auto read = ParsePythonLiteral(PythonRepr(text));
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(read->text, text);
  }
}

}  // namespace

}  // namespace borescope::internal
