#include "borescope/output/names/branches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace borescope::internal {
namespace {

// Slow twin: what each has in common with every other.
Branches BranchesByPairs(const std::vector<std::string>& texts, size_t i) {
  std::set<uint32_t> places;
  for (size_t j = 0; j < texts.size(); ++j) {
    if (j != i) {
      const auto ends =
          std::mismatch(texts[i].begin(), texts[i].end(), texts[j].begin(), texts[j].end());
      places.insert(static_cast<uint32_t>(ends.first - texts[i].begin()));
    }
  }
  return {places.begin(), places.end()};
}

TEST(FindBranches, AreWhereAnyOtherTextGoesOnDifferently) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> sorted;
    for (size_t count = 1 + random() % 12; count > 0; --count) {
      std::string text;
      for (size_t length = random() % 8; length > 0; --length) {
        text += random() % 2 == 0 ? 'a' : 'b';
      }
      sorted.insert(text);
    }
    const std::vector<std::string> texts(sorted.begin(), sorted.end());
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const std::vector<Branches> found = FindBranches(views);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(found[i], BranchesByPairs(texts, i)) << texts[i];
    }
  }
}

TEST(FindBranches, OfManyKeepsTheFirstAndTheLast) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < 100; ++i) {
    texts.emplace_back(i, 'a');
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const Branches last = FindBranches(views).back();
  EXPECT_EQ(last.front(), 0U);
  EXPECT_EQ(last.back(), 98U);
  EXPECT_LE(last.size(), 16U);
}

}  // namespace
}  // namespace borescope::internal
