#include "borescope/compat/chakra/exclusive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace borescope::internal::chakra::compat {
namespace {

using Pair = std::pair<int64_t, int64_t>;

std::vector<int64_t> Exclusive(const std::vector<Pair>& spans) {
  std::vector<TimedSpan> timed;
  timed.reserve(spans.size());
  for (const Pair& span : spans) {
    timed.push_back({Number::Int(span.first), Number::Int(span.second)});
  }
  Diagnostics diagnostics;
  std::vector<int64_t> left;
  left.reserve(spans.size());
  for (const Number& number : ExclusiveDurations(timed, diagnostics)) {
    EXPECT_FALSE(number.is_double);
    left.push_back(number.whole);
  }
  return left;
}

TEST(ExclusiveDurations, NestedSpansCountOnce) {
  EXPECT_EQ(Exclusive({{100, 10}, {105, 3}, {108, 1}}), (std::vector<int64_t>{6, 3, 1}));
  EXPECT_EQ(Exclusive({{100, 20}, {105, 5}, {110, 5}}), (std::vector<int64_t>{10, 5, 5}));
  EXPECT_EQ(Exclusive({{0, 100}, {10, 50}, {20, 10}}), (std::vector<int64_t>{50, 40, 10}));
}

// Children that touch or overlap count once: 10 of 20, 4 of 9, 3 of 9, 8 of 12.
TEST(ExclusiveDurations, ChildrenCountByTheTimeTheyCover) {
  EXPECT_EQ(Exclusive({{0, 20}, {1, 2}, {2, 4}, {8, 2}, {15, 3}})[0], 10);
  EXPECT_EQ(Exclusive({{0, 9}, {1, 3}, {4, 1}})[0], 5);
  EXPECT_EQ(Exclusive({{0, 9}, {1, 1}, {2, 1}, {3, 1}})[0], 6);
  EXPECT_EQ(Exclusive({{0, 12}, {1, 4}, {2, 4}, {6, 2}, {7, 2}})[0], 4);
  EXPECT_EQ(Exclusive({}), std::vector<int64_t>());
}

TEST(ExclusiveDurations, OfOneBeginTheLongerDoesNotSeeTheShorter) {
  EXPECT_EQ(Exclusive({{100, 10}, {100, 4}}), (std::vector<int64_t>{10, 4}));
  EXPECT_EQ(Exclusive({{100, 10}, {100, 10}}), (std::vector<int64_t>{0, 10}));
}

TEST(ExclusiveDurations, FractionsMakeDoubles) {
  Diagnostics diagnostics;
  const std::vector<TimedSpan> spans = {{Number::Double(0.5), Number::Int(10)},
                                        {Number::Int(1), Number::Double(0.1)}};
  const std::vector<Number> left = ExclusiveDurations(spans, diagnostics);
  EXPECT_TRUE(left[0].is_double);
  EXPECT_EQ(left[0].fraction, 10 - ((1 + 0.1) - 1));
}

// The rule as it stands, without shortcuts.
std::vector<int64_t> ByTheLetter(const std::vector<Pair>& spans) {
  std::vector<size_t> order(spans.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return spans[a] < spans[b]; });
  std::vector<int64_t> left(spans.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto [begin, duration] = spans[order[i]];
    std::vector<char> is_taken(64, 0);
    for (size_t j = i + 1; j < order.size() && spans[order[j]].first <= begin + duration; ++j) {
      const auto [other, length] = spans[order[j]];
      for (int64_t t = other; other + length <= begin + duration && t < other + length; ++t) {
        is_taken[static_cast<size_t>(t)] = 1;
      }
    }
    left[order[i]] = duration - std::count(is_taken.begin(), is_taken.end(), 1);
  }
  return left;
}

TEST(ExclusiveDurations, CrossingSpansFollowTheRule) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Pair> spans(1 + random() % 9);
    for (Pair& span : spans) {
      span = {random() % 20, random() % 20};
    }
    ASSERT_EQ(Exclusive(spans), ByTheLetter(spans)) << round;
  }
}

}  // namespace
}  // namespace borescope::internal::chakra::compat
