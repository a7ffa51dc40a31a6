#include "borescope/analysis/measures/rank_clocks/rank_clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"

namespace borescope::internal {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kMs = 1000 * kUs;

TEST(Medians, OfAnEvenNumberTheMiddleRoundedDown) {
  std::vector<int64_t> odd{5, 1, 9};
  std::vector<int64_t> even{4, 1, 9, 2};
  std::vector<int64_t> below{-4, -1};
  EXPECT_EQ(MedianOf(odd), 5);
  EXPECT_EQ(MedianOf(even), 3);
  EXPECT_EQ(MedianOf(below), -3);
  EXPECT_DOUBLE_EQ(RobustSigma({0, 10, 20, 30, 1'000'000}), 14.826);
  EXPECT_EQ(RobustSigma({}), 0);
}

// Points 10 ms apart, with a scatter of up to 2 us that repeats, a drift and steps.
std::vector<ClockPoint> Points(size_t count, double drift,
                               const std::vector<std::pair<size_t, int64_t>>& steps) {
  std::vector<ClockPoint> points;
  points.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i) * 10 * kMs;
    int64_t behind =
        std::llround(drift * static_cast<double>(at)) + static_cast<int64_t>(i * 7 % 5) * 500;
    for (const auto& [place, by] : steps) behind += i >= place ? by : 0;
    points.push_back({at, behind});
  }
  return points;
}

TEST(ClockDrift, RatesAreFoundAcrossSteps) {
  const std::vector<ClockPoint> points = Points(200, 30e-6, {{90, 3 * kMs}});
  EXPECT_NEAR(RateAcrossSteps(points), 30e-6, 1e-6);
  const std::vector<size_t> begins{0, 90};
  EXPECT_NEAR(RateWithinPieces(points, begins), 30e-6, 1e-6);
}

TEST(ClockDrift, WhatChanceExplainsIsNone) {
  const std::vector<size_t> one{0};
  EXPECT_EQ(RateWithinPieces(Points(200, 0.1e-6, {}), one), 0);
  EXPECT_EQ(RateWithinPieces(Points(5, 30e-6, {}), one), 0);  // too few
}

TEST(ClockDrift, StepsAreFoundWhereTheyAre) {
  EXPECT_EQ(FindClockSteps(Points(200, 0, {{90, 3 * kMs}})), std::vector<size_t>{90});
  EXPECT_EQ(FindClockSteps(Points(200, 0, {{50, -kMs}, {120, 40 * kUs}})),
            (std::vector<size_t>{50, 120}));
  EXPECT_TRUE(FindClockSteps(Points(200, 0, {})).empty());
}

// Leaving late twice in a row is no step.
TEST(ClockDrift, OutliersAreNoSteps) {
  std::vector<ClockPoint> points = Points(200, 0, {});
  points[80].behind_ns += 5 * kMs;
  points[81].behind_ns += 5 * kMs;
  EXPECT_TRUE(FindClockSteps(points).empty());
}

TEST(PairLine, HasAPieceForEachStep) {
  const PairLine pair = FitPairLine(Points(200, 20e-6, {{90, 3 * kMs}}));
  ASSERT_EQ(pair.line.pieces.size(), 2U);
  EXPECT_EQ(pair.line.PieceAt(89 * 10 * kMs), 0U);
  EXPECT_EQ(pair.line.PieceAt(90 * 10 * kMs), 1U);
  EXPECT_NEAR(static_cast<double>(pair.line.pieces[1].offset_ns - pair.line.pieces[0].offset_ns),
              3e6, 2e3);
  EXPECT_TRUE(pair.line.IsDoubtful(89 * 10 * kMs, 89 * 10 * kMs));
  EXPECT_FALSE(pair.line.IsDoubtful(50 * 10 * kMs, 60 * 10 * kMs));
}

TEST(ClockLine, ComposedLinesGoThroughBoth) {
  ClockLine first;
  first.pieces = {{INT64_MIN, 1000}, {500, 1200}};
  ClockLine second;
  second.pieces = {{INT64_MIN, -30}, {2000, 70}};
  const ClockLine both = ClockLine::Compose(first, second);
  for (const int64_t at : {-100, 0, 400, 600, 700, 900, 5000}) {
    const int64_t middle = at + first.CorrectionAt(at);
    EXPECT_EQ(at + both.CorrectionAt(at), middle + second.CorrectionAt(middle)) << at;
  }
}

// Ranks 0-1 met once, and 0-2, 2-1 often: the tree uses the latter.
TEST(ClockTree, GoesAlongThoseThatMetOften) {
  Meetings meetings;
  meetings.ranks = 4;
  const auto meet = [&](uint32_t a, uint32_t b, uint32_t group) {
    meetings.visits.push_back({a, 0, 1});
    meetings.visits.push_back({b, 0, 1});
    meetings.Close(true, group);
  };
  meet(0, 1, 0);
  for (int i = 0; i < 3; ++i) {
    meet(0, 2, 1);
    meet(1, 2, 2);
  }
  const ClockTree tree = MakeClockTree(meetings);
  ASSERT_EQ(tree.edges.size(), 2U);
  EXPECT_EQ(tree.edges[0].child, 2U);
  EXPECT_EQ(tree.edges[1].parent, 2U);
  EXPECT_EQ(tree.edges[1].child, 1U);
  EXPECT_EQ(tree.component, (std::vector<uint32_t>{0, 0, 0, kNoComponent}));
}

Meetings TwoRanks(std::initializer_list<std::array<int64_t, 4>> times) {
  Meetings meetings;
  meetings.ranks = 2;
  for (const auto& [a, b, c, d] : times) {
    meetings.visits.push_back({0, a, b});
    meetings.visits.push_back({1, c, d});
    meetings.Close(true, 0);
  }
  return meetings;
}

// Rank 1 leaves at 130, after rank 0 entered at 10: it may be behind by 120 at most...
TEST(ClockBounds, FollowFromEntering) {
  const uint32_t reference = 0;
  const std::vector<int64_t> slack{0};
  const ClockBounds bounds = BoundClocks(TwoRanks({{10, 100, 50, 130}}), slack, {&reference, 1});
  EXPECT_EQ(bounds.low_ns[1], 10 - 130);
  EXPECT_EQ(bounds.high_ns[1], 100 - 50);
  EXPECT_TRUE(bounds.are_consistent);
}

TEST(ClockBounds, ContradictionsAreNoticed) {
  const uint32_t reference = 0;
  const std::vector<int64_t> slack{0, 0};
  EXPECT_FALSE(BoundClocks(TwoRanks({{0, 10, 0, 10}, {100, 110, 300, 310}}), slack, {&reference, 1})
                   .are_consistent);
}

RankClocks Align(const Meetings& meetings) {
  return AlignRankClocks(meetings, {10 * kUs, std::vector<int64_t>(meetings.ranks, 0),
                                    std::vector<int64_t>(meetings.ranks, 1)});
}

// Rank 1 leaves up to 20 us earlier or later than rank 0 each time, so 20 us are not odd. The
// meeting that it entered 10 us before rank 0 left bounds its clock.
TEST(RankClocks, VisitsWithinTheScatterBound) {
  Meetings meetings = TwoRanks({});
  for (int64_t i = 0; i < 21; ++i) {
    const int64_t at = i * kMs;
    const int64_t late = (i % 3 - 1) * 20 * kUs;
    meetings.visits.push_back({0, at, at + 100 * kUs});
    meetings.visits.push_back({1, i == 11 ? at + 90 * kUs : at, at + 100 * kUs + late});
    meetings.Close(true, 0);
  }
  const RankClocks clocks = Align(meetings);
  ASSERT_TRUE(clocks.ranks[1].high_ns.has_value());
  EXPECT_GE(*clocks.ranks[1].high_ns, 10 * kUs);
  EXPECT_LE(*clocks.ranks[1].high_ns, 11 * kUs);  // two grains, and drift over 1 ms
}

TEST(PairLine, ScatterIsThatOfThePoints) {
  std::vector<ClockPoint> points;
  for (int64_t i = 0; i < 21; ++i) points.push_back({i * kMs, (i % 3 - 1) * 20 * kUs});
  const PairLine pair = FitPairLine(points);
  EXPECT_EQ(pair.scatter_ns, 29'652);  // 1.4826 * 20 us
  EXPECT_FALSE(pair.has_few_points);
  EXPECT_TRUE(FitPairLine(std::span(points).first(4)).has_few_points);
}

// One meeting has no scatter: only its bounds are known.
TEST(RankClocks, FewMeetingsAreNoMoreCertainThanTheirBounds) {
  const RankClocks one = Align(TwoRanks({{0, 300 * kUs, 0, 300 * kUs}}));
  EXPECT_EQ(one.ranks[1].error_ns, 300 * kUs + 2);
  Meetings unbounded = TwoRanks({{0, 300 * kUs, 0, 300 * kUs}});
  unbounded.all_entered[0] = 0;
  EXPECT_EQ(Align(unbounded).ranks[1].error_ns, kFewMeetingsError * 10 * kUs);
}

// 40 ppm over 2 s: 40 us to each side of the middle.
TEST(RankClocks, OneOffsetForADriftingClockIsWrongByItsDrift) {
  Meetings meetings = TwoRanks({});
  for (int64_t i = 0; i <= 200; ++i) {
    const int64_t at = i * 10 * kMs;
    const int64_t behind = at / 25'000;
    meetings.visits.push_back({0, at, at + 50 * kUs});
    meetings.visits.push_back({1, at - behind, at - behind + 50 * kUs});
    meetings.Close(true, 0);
  }
  const RankClock clock = Align(meetings).ranks[1];
  EXPECT_NEAR(static_cast<double>(clock.whole_error_ns - clock.error_ns), 40e3, 1e3);
  EXPECT_EQ(Align(TwoRanks({{0, 9, 0, 9}})).ranks[1].whole_error_ns, 11);
}

// Calls of different collectives were matched: no clocks satisfy them.
TEST(RankClocks, WrongMeetingsAreNotComparable) {
  const RankClocks clocks = Align(TwoRanks({{0, 10 * kUs, 0, 10 * kUs},
                                            {1 * kMs, 2 * kMs, 90 * kMs, 91 * kMs},
                                            {5 * kMs, 6 * kMs, 7 * kMs, 8 * kMs}}));
  EXPECT_EQ(clocks.ranks[1].verdict, RankClockVerdict::kNotComparable);
}

TEST(RankClocks, RanksThatNeverMetAreApart) {
  Meetings meetings;
  meetings.ranks = 4;
  for (int64_t i = 0; i < 3; ++i) {
    for (const uint32_t first : {0U, 2U}) {
      meetings.visits.push_back({first, i * kMs, i * kMs + 50 * kUs});
      meetings.visits.push_back({first + 1, i * kMs, i * kMs + 50 * kUs});
      meetings.Close(true, first);
    }
  }
  const RankClocks clocks = Align(meetings);
  EXPECT_NE(clocks.ranks[0].component, clocks.ranks[2].component);
  EXPECT_NE(clocks.ranks[0].clock, clocks.ranks[2].clock);
  EXPECT_EQ(clocks.ranks[0].clock, clocks.ranks[1].clock);
  EXPECT_FALSE(clocks.ranks[2].low_ns.has_value());
}

}  // namespace
}  // namespace borescope::internal
