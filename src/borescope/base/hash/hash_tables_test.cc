#include "borescope/base/hash/hash_tables.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>

namespace borescope::internal {
namespace {

// Who walks a table by accident would write an order that differs from run to run.
static_assert(!std::ranges::range<HashMap<int, int>>);
static_assert(!std::ranges::range<const HashMap<int, int>>);
static_assert(!std::ranges::range<HashSet<std::string>>);

TEST(HashTablesTest, AllMembersAreVisitedOnceInAnyOrder) {
  HashMap<int64_t, int64_t> squares;
  for (int64_t i = 0; i < 1000; ++i) {
    squares[i] = i * i;
  }
  int64_t numbers = 0;
  for (auto& [number, square] : squares.InAnyOrder()) {
    EXPECT_EQ(square, number * number);
    numbers += number;
    square = 0;
  }
  EXPECT_EQ(numbers, 999 * 1000 / 2);
  EXPECT_EQ(squares.at(7), 0);
}

TEST(HashTablesTest, TextsAreFoundByViews) {
  HashSet<std::string> words = {"gemm", "relu"};
  EXPECT_TRUE(words.contains(std::string_view("gemm")));
  EXPECT_EQ(words.find(std::string_view("add")), words.end());
  HashMap<std::string, int> numbers = {{"gemm", 1}};
  EXPECT_EQ(numbers.find(std::string_view("gemm"))->second, 1);
  EXPECT_EQ(std::distance(words.InAnyOrder().begin(), words.InAnyOrder().end()), 2);
}

struct Place {
  int64_t process;
  bool is_async;
  bool operator==(const Place&) const = default;
  std::array<int64_t, 2> Numbers() const { return {process, is_async ? 1 : 0}; }
};

TEST(HashTablesTest, KeysOfSeveralMembersAreTheirNumbers) {
  HashMap<Place, int> places;
  places[{1, false}] = 1;
  places[{1, true}] = 2;
  EXPECT_EQ(places.size(), 2U);
  EXPECT_EQ(places.at({1, true}), 2);
}

}  // namespace
}  // namespace borescope::internal
