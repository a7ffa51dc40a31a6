#include "borescope/analysis/verbs/waits/division.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "borescope/analysis/verbs/waits/exact_shares.h"
#include "borescope/analysis/verbs/waits/range_maximum.h"

namespace borescope::internal {
namespace {

std::vector<int64_t> Parts(const std::vector<Arrival>& arrivals, size_t i) {
  const WaitParts parts = DivideWait(arrivals[i], CommonTimeOf(arrivals));
  return {parts.skew_ns, parts.common_ns, parts.tail_ns};
}

using Ns = std::vector<int64_t>;

TEST(WaitDivision, WaitingTransferAndTail) {
  const std::vector<Arrival> arrivals{{0, 0, 100}, {1, 60, 90}, {2, 40, 95}};
  EXPECT_EQ(Parts(arrivals, 0), (Ns{60, 30, 10}));
  EXPECT_EQ(Parts(arrivals, 1), (Ns{0, 30, 0}));
  EXPECT_EQ(Parts(arrivals, 2), (Ns{20, 30, 5}));
}

// A rank that seems to leave before the last one enters only waited.
TEST(WaitDivision, WrongClocksLoseNothing) {
  const std::vector<Arrival> arrivals{{0, 0, 50}, {1, 60, 90}};
  EXPECT_EQ(Parts(arrivals, 0), (Ns{50, 0, 0}));
  EXPECT_EQ(Parts(arrivals, 1), (Ns{0, 0, 30}));
}

// Nanosecond by nanosecond: where all are inside, where somebody is not yet, and the rest.
Ns SlowParts(const std::vector<Arrival>& arrivals, size_t i) {
  Ns parts{0, 0, 0};
  for (int64_t ns = arrivals[i].enter_ns; ns < arrivals[i].leave_ns; ++ns) {
    bool all_entered = true;
    bool none_left = true;
    for (const Arrival& other : arrivals) {
      all_entered = all_entered && other.enter_ns <= ns;
      none_left = none_left && ns < other.leave_ns;
    }
    ++parts[!all_entered ? 0 : (none_left ? 1 : 2)];
  }
  return parts;
}

TEST(WaitDivision, IsThatOfTheSlowTwin) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Arrival> arrivals;
    const size_t ranks = 2 + random() % 4;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const auto enter = static_cast<int64_t>(random() % 40);
      arrivals.push_back({rank, enter, enter + static_cast<int64_t>(random() % 40)});
    }
    for (size_t i = 0; i < ranks; ++i) {
      ASSERT_EQ(Parts(arrivals, i), SlowParts(arrivals, i)) << "round " << round;
    }
  }
}

TEST(FindLast, LeadAndErrorsDecide) {
  const std::vector<Arrival> arrivals{{0, 10, 99}, {1, 50, 99}, {2, 20, 99}, {3, 45, 99}};
  const LastArrival sure = FindLast(arrivals, Ns{2, 2, 2, 2});
  EXPECT_EQ(sure.last, 1U);
  EXPECT_EQ(sure.lead_ns, 5);
  EXPECT_EQ(sure.spread_ns, 40);
  EXPECT_TRUE(sure.is_certain);
  EXPECT_FALSE(FindLast(arrivals, Ns{9, 3, 9, 2}).is_certain);
  constexpr int64_t kNoIdea = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(FindLast(arrivals, Ns{0, kNoIdea, 0, kNoIdea}).is_certain);
}

TEST(FindLast, OfSeveralTheFirstAndNotForCertain) {
  const std::vector<Arrival> arrivals{{0, 10, 99}, {1, 10, 99}};
  const LastArrival found = FindLast(arrivals, Ns{0, 0});
  EXPECT_EQ(found.last, 0U);
  EXPECT_FALSE(found.is_certain);
}

TEST(ExactShares, AddUp) {
  EXPECT_EQ((ExactShares<3>(10, {1, 1, 1})), (std::array<int64_t, 3>{3, 3, 4}));
  EXPECT_EQ((ExactShares<3>(10, {-5, 0, 2})), (std::array<int64_t, 3>{0, 0, 10}));
  EXPECT_EQ((ExactShares<2>(10, {0, -1})), (std::array<int64_t, 2>{0, 0}));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ((ExactShares<2>(kMost, {kMost, kMost})),
            (std::array<int64_t, 2>{kMost / 2, kMost - kMost / 2}));
}

TEST(RangeMaximum, IsThatOfALoop) {
  std::mt19937 random(2);
  for (size_t size = 1; size < 40; ++size) {
    Ns numbers;
    for (size_t i = 0; i < size; ++i) numbers.push_back(static_cast<int64_t>(random() % 10));
    const RangeMaximum maximum(numbers);
    for (size_t begin = 0; begin < size; ++begin) {
      for (size_t end = begin + 1; end <= size; ++end) {
        size_t best = begin;
        for (size_t i = begin; i < end; ++i) best = numbers[i] > numbers[best] ? i : best;
        ASSERT_EQ(maximum.PlaceIn(begin, end), best);
      }
    }
  }
}

}  // namespace
}  // namespace borescope::internal
