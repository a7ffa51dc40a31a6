#include "borescope/table/text_ranks.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace borescope::internal {
namespace {

void ExpectRanksCompareAsTexts(const StringValues& cells) {
  const std::vector<uint32_t> ranks = TextRanks(cells);
  ASSERT_EQ(ranks.size(), cells.size());
  for (size_t a = 0; a < cells.size(); ++a) {
    for (size_t b = 0; b < cells.size(); ++b) {
      ASSERT_EQ(cells[a] < cells[b], ranks[a] < ranks[b]) << cells[a] << " " << cells[b];
    }
  }
}

TEST(TextRanks, OfNothingAreNone) { EXPECT_TRUE(TextRanks(StringValues()).empty()); }

TEST(TextRanks, CompareAsTheTextsDo) {
  StringValues cells;
  const std::string zeros(20, '\0');
  for (const std::string_view text :
       {"b", "", "a", "a", "abcdefgh", "abcdefg", "abcdefghi", "abcdefgh\xff", "\xff", "abcdefgg",
        "abcdefghabcdefghabcdefgh", "abcdefghabcdefghabcdefgi", "abcdefghabcdefgh"}) {
    cells.push_back(text);
  }
  for (size_t length = 0; length < zeros.size(); ++length) {
    cells.push_back(zeros.substr(0, length));
    cells.push_back("a" + zeros.substr(0, length));
  }
  ExpectRanksCompareAsTexts(cells);
}

TEST(TextRanks, OfRandomTextsCompareAsTheyDo) {
  std::mt19937 random(1);
  StringValues cells;
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto left = random() % 30; left > 0; --left) {
      text += static_cast<char>(random() % 2 == 0 ? 'a' : '\0');
    }
    cells.push_back(text);
  }
  ExpectRanksCompareAsTexts(cells);
}

}  // namespace
}  // namespace borescope::internal
