#include "borescope/base/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace borescope::internal {

void PrintTo(const Interval& interval, std::ostream* out) {
  *out << '[' << interval.begin << ',' << interval.end << ')';
}

namespace {

// The widest times that reading accepts (kineto_events.cc): lengths must not overflow.
constexpr int64_t kFar = int64_t{1} << 61;

TEST(IntervalsTest, UnionSortsJoinsAndDropsEmptyOnes) {
  EXPECT_EQ(Union({{40, 40}, {20, 25}, {10, 15}, {0, 10}, {22, 32}}),
            (IntervalSet{{0, 15}, {20, 32}}));
}

TEST(IntervalsTest, UnionMergesSortedRuns) {
  std::mt19937 random(7);
  std::vector<Interval> runs;
  for (int run = 0; run < 5; ++run) {
    int64_t begin = 0;
    for (int i = 0; i < 50; ++i) {
      begin += static_cast<int64_t>(random() % 40);
      runs.push_back({begin, begin + static_cast<int64_t>(random() % 9)});
    }
  }
  IntervalSet want;  // by timestamps
  for (int64_t at = 0; at < 50 * 40 + 9; ++at) {
    if (std::any_of(runs.begin(), runs.end(),
                    [&](const Interval& one) { return one.begin <= at && at < one.end; })) {
      Extend(want, {at, at + 1});
    }
  }
  EXPECT_EQ(Union(runs), want);
}

TEST(IntervalsTest, ExtendJoinsWhatTouchesAndDropsEmptyOnes) {
  IntervalSet set;
  Extend(set, {3, 3});
  Extend(set, {3, 5});
  Extend(set, {5, 9});
  Extend(set, {6, 7});
  Extend(set, {10, 8});
  Extend(set, {11, 12});
  EXPECT_EQ(set, (IntervalSet{{3, 9}, {11, 12}}));
}

TEST(IntervalsTest, InvertedIntervalsVanish) {
  EXPECT_EQ(Union({{5, 3}, {10, 12}}), (IntervalSet{{10, 12}}));
  EXPECT_EQ(Union(std::vector<Interval>{{9, 1}}), IntervalSet{});
}

TEST(IntervalsTest, AnIntervalInsideALongOneDoesNotShortenIt) {
  EXPECT_EQ(Union({{0, 100}, {10, 20}, {50, 60}, {99, 101}}), (IntervalSet{{0, 101}}));
}

TEST(IntervalsTest, NothingStaysNothing) {
  const IntervalSet none;
  const IntervalSet some{{1, 2}};
  EXPECT_EQ(Union(std::vector<Interval>{}), none);
  EXPECT_EQ(Union(none, some), some);
  EXPECT_EQ(Union(some, none), some);
  EXPECT_EQ(Intersect(none, some), none);
  EXPECT_EQ(Subtract(none, some), none);
  EXPECT_EQ(Subtract(some, none), some);
  EXPECT_EQ(Clip(none, {0, 10}), none);
  EXPECT_EQ(Coverage(none), 0);
}

TEST(IntervalsTest, UnionOfSetsJoinsTouchingParts) {
  EXPECT_EQ(Union(IntervalSet{{0, 1}, {4, 6}}, IntervalSet{{1, 2}, {5, 9}, {9, 10}}),
            (IntervalSet{{0, 2}, {4, 10}}));
}

TEST(IntervalsTest, TouchingPartsDoNotIntersect) {
  EXPECT_EQ(Intersect({{0, 5}, {10, 20}}, {{5, 10}, {12, 13}, {19, 30}}),
            (IntervalSet{{12, 13}, {19, 20}}));
}

TEST(IntervalsTest, SubtractCutsHolesAndEnds) {
  EXPECT_EQ(Subtract({{0, 10}, {20, 30}}, {{2, 4}, {6, 22}, {30, 40}}),
            (IntervalSet{{0, 2}, {4, 6}, {22, 30}}));
  EXPECT_EQ(Subtract({{0, 10}}, {{-5, 50}}), IntervalSet{});
}

// One part of the subtrahend reaches over several parts of the minuend.
TEST(IntervalsTest, SubtractKeepsALongPartForTheNextOne) {
  EXPECT_EQ(Subtract({{0, 2}, {3, 5}, {6, 9}}, {{1, 7}}), (IntervalSet{{0, 1}, {7, 9}}));
}

TEST(IntervalsTest, ClipCutsAtBothEnds) {
  const IntervalSet set{{0, 10}, {20, 30}, {40, 50}};
  EXPECT_EQ(Clip(set, {5, 45}), (IntervalSet{{5, 10}, {20, 30}, {40, 45}}));
  EXPECT_EQ(Clip(set, {10, 20}), IntervalSet{});
  EXPECT_EQ(Clip(set, {22, 24}), (IntervalSet{{22, 24}}));
  EXPECT_EQ(Clip(set, {50, 60}), IntervalSet{});
}

TEST(IntervalsTest, ClipToAnEmptyWindowIsEmpty) {
  EXPECT_EQ(Clip({{0, 10}}, {5, 5}), IntervalSet{});
}

TEST(IntervalsTest, TheWidestTimesDoNotOverflow) {
  const IntervalSet all{{-kFar, kFar}};
  EXPECT_EQ(Coverage(Union({{-kFar, 0}, {0, kFar}})), Coverage(all));
  EXPECT_EQ(Coverage(Subtract(all, {{-1, 1}})), 2 * kFar - 2);
}

}  // namespace
}  // namespace borescope::internal
