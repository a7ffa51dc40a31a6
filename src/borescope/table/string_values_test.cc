#include "borescope/table/string_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

TEST(StringValues, EveryRowGivesItsText) {
  StringValues values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::to_string(i % 300));
  }
  values.emplace_back();
  ASSERT_EQ(values.size(), 1001U);
  for (size_t row = 0; row < 1000; ++row) {
    EXPECT_EQ(values[row], std::to_string(row % 300));
  }
  EXPECT_EQ(values.back(), "");
}

TEST(StringValues, RepeatedTextsAreKeptOnce) {
  StringValues values;
  values.push_back("a kernel name that does not fit into the string itself");
  values.push_back("b");
  values.push_back("a kernel name that does not fit into the string itself");
  EXPECT_EQ(&values[0], &values[2]);
  EXPECT_NE(&values[0], &values[1]);
}

TEST(StringValues, NumbersLeadToTexts) {
  StringValues values;
  for (const char* text : {"b", "a", "b"}) {
    values.push_back(text);
  }
  ASSERT_EQ(values.texts().size(), 2U);
  ASSERT_EQ(values.numbers().size(), 3U);
  EXPECT_EQ(values.texts()[values.numbers()[0]], "b");
  EXPECT_EQ(values.texts()[values.numbers()[1]], "a");
  EXPECT_EQ(values.numbers()[0], values.numbers()[2]);
}

TEST(StringValues, TakenCellsAreAsIfTheyWerePushed) {
  StringValues values;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::to_string(i % 300));
  }
  const std::vector<uint32_t> rows{999, 3, 303, 3, 0};
  StringValues taken = values.Take(rows);
  StringValues pushed;
  for (const uint32_t row : rows) {
    pushed.push_back(values[row]);
  }
  for (StringValues* one : {&taken, &pushed}) {
    one->push_back("new");
    one->push_back("3");  // found again, though no text was sought before
  }
  EXPECT_TRUE(std::ranges::equal(taken.texts(), pushed.texts()));
  EXPECT_TRUE(std::ranges::equal(taken.numbers(), pushed.numbers()));
  EXPECT_TRUE(values.Take({}).empty());
}

TEST(StringValues, AppendedCellsAndCopiesStandAlone) {
  StringValues a;
  a.push_back("x");
  a.push_back("y");
  StringValues b;
  b.push_back("y");
  b.push_back("");
  b.push_back("z");
  const StringValues copy = a;
  a.Append(b);
  a.Append(StringValues());
  ASSERT_EQ(a.size(), 5U);
  EXPECT_EQ(a[1] + a[2] + a[3] + a[4], "yyz");
  EXPECT_EQ(&a[1], &a[2]);
  EXPECT_EQ(copy.size(), 2U);
  a = copy;
  a.push_back("x");
  EXPECT_EQ(a[2], "x");
}

}  // namespace
}  // namespace borescope::internal
