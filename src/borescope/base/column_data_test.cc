#include "borescope/base/column_data.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace borescope::internal {
namespace {

using Numbers = ColumnData<int64_t>;

TEST(ColumnDataTest, DoesWhatAVectorDoes) {
  std::mt19937 random(1);
  std::vector<int64_t> expected;
  Numbers column;
  for (int64_t i = 0; i < 20'000; ++i) {
    const size_t size = random() % 50;
    switch (random() % 8) {
      case 0:
        column.resize(size, i), expected.resize(size, i);
        break;
      case 1:
        column.reserve(size), expected.reserve(size);
        break;
      case 2: {
        const std::vector<int64_t> more(size, i);
        const size_t at = random() % (expected.size() + 1);
        column.insert(column.begin() + at, more.begin(), more.end());
        expected.insert(expected.begin() + static_cast<ptrdiff_t>(at), more.begin(), more.end());
        break;
      }
      case 3: {
        const size_t at = random() % (expected.size() + 1);
        column.erase(column.begin() + at, column.end());
        expected.erase(expected.begin() + static_cast<ptrdiff_t>(at), expected.end());
        break;
      }
      case 4:
        column.assign(size, i), expected.assign(size, i);
        break;
      case 5:
        column.shrink_to_fit();
        break;
      default:
        column.push_back(i), expected.push_back(i);
    }
    ASSERT_EQ(column, expected);
  }
}

TEST(ColumnDataTest, TakesTheMemoryOfAColumnOfAnotherType) {
  for (const size_t size : {size_t{8}, size_t{100'000}}) {  // a small block, and a large one
    ColumnData<uint32_t> other(size, 7);
    other.shrink_to_fit();
    const void* const memory = other.data();
    Numbers column = Numbers::InMemoryOf(std::move(other));
    EXPECT_EQ(column.data(), memory);
    EXPECT_EQ(column.capacity(), size / 2);
    EXPECT_TRUE(column.empty());
    EXPECT_TRUE(other.empty());  // NOLINT: it is moved from, and defined to be empty
    EXPECT_EQ(other.capacity(), 0U);
    column.assign(size, 5);  // more than there is room for
    EXPECT_EQ(column, std::vector<int64_t>(size, 5));
  }
}

TEST(ColumnDataTest, TakesNoMemoryThatItsValuesDoNotFillOrThatIsOfAView) {
  ColumnData<uint32_t> odd(9, 7);
  odd.shrink_to_fit();
  EXPECT_EQ(Numbers::InMemoryOf(std::move(odd)).capacity(), 0U);
  int64_t values[] = {3, 1, 2};
  EXPECT_EQ(Numbers::InMemoryOf(Numbers::View(values)).capacity(), 0U);
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(Numbers::InMemoryOf(ColumnData<char>()).capacity(), 0U);
}

TEST(ColumnDataTest, AViewShowsWhatIsThere) {
  int64_t values[] = {3, 1, 2};
  const Numbers view = Numbers::View(values);
  EXPECT_TRUE(view.is_view());
  EXPECT_EQ(view.data(), values);
  EXPECT_EQ(view.capacity(), 0U);
  values[1] = 5;
  EXPECT_EQ(view, (std::vector<int64_t>{3, 5, 2}));
}

TEST(ColumnDataTest, ChangingAViewLeavesTheOriginalAlone) {
  const std::vector<int64_t> values = {3, 1, 2};
  const auto changed = [&](auto change) {
    Numbers column = Numbers::View(values);
    change(column);
    EXPECT_FALSE(column.is_view() && column.data() == values.data());
    return std::vector<int64_t>(column.begin(), column.end());
  };
  using List = std::vector<int64_t>;
  EXPECT_EQ(changed([](Numbers& column) { column.push_back(7); }), (List{3, 1, 2, 7}));
  EXPECT_EQ(changed([](Numbers& column) { column.pop_back(); }), (List{3, 1}));
  EXPECT_EQ(changed([](Numbers& column) { column.resize(1); }), (List{3}));
  EXPECT_EQ(changed([](Numbers& column) { column.resize(4, 9); }), (List{3, 1, 2, 9}));
  EXPECT_EQ(changed([](Numbers& column) { column.clear(); }), List());
  EXPECT_EQ(changed([](Numbers& column) { column.insert(column.begin() + 1, 2, 8); }),
            (List{3, 8, 8, 1, 2}));
  EXPECT_EQ(changed([](Numbers& column) { column.erase(column.begin(), column.begin() + 2); }),
            (List{2}));
  EXPECT_EQ(changed([](Numbers& column) {
              column.Own();
              column[0] = 4;
            }),
            (List{4, 1, 2}));
  EXPECT_EQ(values, (List{3, 1, 2}));
}

TEST(ColumnDataTest, CopiesOfAViewHaveTheirOwnValuesAndMovedOnesDoNot) {
  const std::vector<int64_t> values = {3, 1, 2};
  Numbers view = Numbers::View(values);
  const Numbers copy = view;
  EXPECT_FALSE(copy.is_view());
  EXPECT_EQ(copy, values);
  const Numbers moved = std::move(view);
  EXPECT_TRUE(moved.is_view());
  EXPECT_EQ(moved.data(), values.data());
}

}  // namespace
}  // namespace borescope::internal
