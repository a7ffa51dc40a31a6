#include "borescope/analysis/measures/names/kernel_categories.h"

#include <gtest/gtest.h>

namespace borescope::internal {

namespace {

std::string ErrorOf(std::string_view json) {
  const Result<NamePatterns> patterns = NamePatterns::Parse(json);
  return patterns.ok() ? "none" : patterns.error().Sentence();
}

TEST(NamePatternsTest, TheLastMatchInTheFileDecides) {
  const NamePatterns patterns =
      NamePatterns::Parse(R"({"gemm": ["^Cijk_", "gemm"], "mine": ["mm_f8", "x"], "empty": []})")
          .value();
  EXPECT_EQ(patterns.CategoryOf("Cijk_Ailk"), "gemm");
  EXPECT_EQ(patterns.CategoryOf("a gemm anywhere"), "gemm");
  EXPECT_EQ(patterns.CategoryOf("gemm_f8"), "mine");
  EXPECT_EQ(patterns.CategoryOf("not Cijk_"), kNoCategory);
  EXPECT_EQ(patterns.CategoryOf(""), kNoCategory);
}

TEST(NamePatternsTest, ErrorsNameThePlace) {
  const std::string form = "; write {\"category\": [\"expression\", ...], ...}";
  EXPECT_EQ(ErrorOf("[]"), "no JSON object" + form);
  EXPECT_EQ(ErrorOf(R"({"a": "b"})"), "category \"a\" has no list of expressions" + form);
  EXPECT_EQ(ErrorOf(R"({"a": [1]})"), "category \"a\": an expression is not a text" + form);
  EXPECT_EQ(ErrorOf(R"({"a": ["("]})"),
            "category \"a\": '(' is not a regular expression of RE2: missing ): (");
  EXPECT_NE(ErrorOf("{\"a\": [\"(?=look)\"]}"), "none");
  EXPECT_NE(ErrorOf("{"), "none");
  EXPECT_NE(ErrorOf(""), "none");
  EXPECT_EQ(ErrorOf("{}"), "none");
}

TEST(NamePatternsTest, HostileExpressionsTakeLinearTime) {
  const NamePatterns patterns =
      NamePatterns::Parse(R"({"slow": ["^(a+)+$", "(x?){50}x{50}y"]})").value();
  EXPECT_EQ(patterns.CategoryOf(std::string(200'000, 'a') + "b"), kNoCategory);
  EXPECT_FALSE(NamePatterns::Parse(R"({"large": ["((a{100}){100}){100}"]})").ok());
}

TEST(NamePatternsTest, ADotIsACharacterOfUtf8) {
  const NamePatterns patterns = NamePatterns::Parse(R"({"k": ["^a.b$"]})").value();
  EXPECT_EQ(patterns.CategoryOf("a\u00e9b"), "k");
}

TEST(NamePatternsTest, NamesMayBeAnyBytes) {
  const NamePatterns patterns = NamePatterns::Parse(R"({"k": ["k$"]})").value();
  EXPECT_EQ(patterns.CategoryOf("\xff\xfe k"), "k");
  EXPECT_EQ(patterns.CategoryOf(std::string_view("\0k", 2)), "k");
}

}  // namespace

}  // namespace borescope::internal
