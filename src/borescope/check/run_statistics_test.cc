#include "borescope/check/run_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace borescope::internal {

namespace {

using Values = std::vector<double>;

// The sum of mean ranks of the test values, by comparing each with every other.
double SlowRankSum(const Values& base, const Values& test) {
  double sum = 0;
  for (const double value : test) {
    double rank = 0.5;
    for (const Values* side : {&base, &test}) {
      for (const double other : *side) {
        rank += other < value ? 1 : other == value ? 0.5 : 0;
      }
    }
    sum += rank;
  }
  return sum;
}

// Every labelling, one after the other.
double SlowRankSumP(const Values& base, const Values& test) {
  Values all = base;
  all.insert(all.end(), test.begin(), test.end());
  std::vector<int> is_test(base.size(), 0);
  is_test.insert(is_test.end(), test.size(), 1);
  const double observed = SlowRankSum(base, test);
  double as_large = 0;
  double labellings = 0;
  do {
    Values sides[2];
    for (size_t i = 0; i < all.size(); ++i) {
      sides[is_test[i]].push_back(all[i]);
    }
    labellings += 1;
    as_large += SlowRankSum(sides[0], sides[1]) >= observed - 1e-9 ? 1 : 0;
  } while (std::next_permutation(is_test.begin(), is_test.end()));
  return as_large / labellings;
}

Values Draw(std::mt19937& random, size_t count, bool with_ties) {
  std::uniform_real_distribution<double> number(0, 4);
  Values values(count);
  for (double& value : values) {
    value = with_ties ? std::floor(number(random)) : number(random);
  }
  return values;
}

TEST(RankSumTest, EqualsTheCountOfEveryLabelling) {
  std::mt19937 random(1);
  for (size_t base = 1; base <= 5; ++base) {
    for (size_t test = 1; test <= 5; ++test) {
      for (const bool with_ties : {false, true}) {
        const Values earlier = Draw(random, base, with_ties);
        const Values later = Draw(random, test, with_ties);
        EXPECT_NEAR(RankSumP(earlier, later), SlowRankSumP(earlier, later), 1e-12);
      }
    }
  }
}

TEST(RankSumTest, KnownSmallestLevels) {
  EXPECT_DOUBLE_EQ(SmallestRankSumP(3, 3), 0.05);
  EXPECT_DOUBLE_EQ(SmallestRankSumP(4, 4), 1.0 / 70);
  EXPECT_DOUBLE_EQ(SmallestRankSumP(1, 1), 0.5);
  EXPECT_EQ(RunsNeeded(0.05), 3U);
  EXPECT_EQ(RunsNeeded(0.01), 5U);
  EXPECT_DOUBLE_EQ(RankSumP(Values{1, 2, 3}, Values{4, 5, 6}), 0.05);
  EXPECT_DOUBLE_EQ(RankSumP(Values{7, 7}, Values{7, 7}), 1);
}

TEST(RankSumTest, ManyRunsAreCloseToTheExactCount) {
  std::mt19937 random(2);
  const Values base = Draw(random, 30, false);
  Values test = Draw(random, 30, false);
  const double exact = RankSumP(base, test);
  // With one more run the approximation is used; this one is in the middle and changes little.
  test.push_back(2);
  EXPECT_NEAR(RankSumP(base, test), exact, 0.03);
}

TEST(RankSumTest, IntervalHoldsWhatTheTestDoesNotRefuse) {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    const Values base = Draw(random, 4, false);
    const Values test = Draw(random, 5, false);
    const Values differences = SortedDifferences(base, test);
    const size_t outside = RankLimitOf(4, 5, 0.05).value().outside;
    for (const double step : {-1e-9, 1e-9}) {
      Values moved = test;
      for (double& value : moved) {
        value -= differences[outside] + step;
      }
      EXPECT_EQ(SlowRankSumP(base, moved) <= 0.05, step < 0);
    }
  }
  EXPECT_FALSE(RankLimitOf(2, 2, 0.05).has_value());
  EXPECT_EQ(RankLimitOf(3, 3, 0.05).value().outside, 0U);
  EXPECT_DOUBLE_EQ(RankLimitOf(4, 4, 0.05).value().level, 2.0 / 70);
}

TEST(HodgesLehmannTest, IsTheMedianOfAllDifferences) {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    const Values base = Draw(random, 1 + i % 7, i % 2 == 0);
    const Values test = Draw(random, 1 + i % 5, i % 2 == 0);
    // The value below and above which as many differences lie, found by counting.
    const double shift = ShiftBetween(base, test);
    int below = 0;
    int above = 0;
    for (const double earlier : base) {
      for (const double later : test) {
        below += later - earlier < shift - 1e-12 ? 1 : 0;
        above += later - earlier > shift + 1e-12 ? 1 : 0;
      }
    }
    const int half = static_cast<int>(base.size() * test.size()) / 2;
    EXPECT_LE(below, half);
    EXPECT_LE(above, half);
  }
  EXPECT_DOUBLE_EQ(ShiftBetween(Values{1, 2, 3}, Values{11, 12, 13}), 10);
}

TEST(StudentTest, KnownLimits) {
  // Tables of the distribution.
  EXPECT_NEAR(StudentLimit(0.05, 4), 2.131846786, 1e-8);
  EXPECT_NEAR(StudentLimit(0.05, 1), 6.313751515, 1e-8);
  EXPECT_NEAR(StudentLimit(0.01, 10), 2.763769458, 1e-8);
  EXPECT_NEAR(StudentLimit(0.8, 7), -0.896029644, 1e-8);
  EXPECT_NEAR(StudentTail(0, 3), 0.5, 1e-12);
  // With one degree of freedom it is the Cauchy distribution.
  EXPECT_NEAR(StudentTail(2, 1), 0.5 - std::atan(2.0) / M_PI, 1e-10);
}

TEST(StudentTest, SpreadOfGroupsIsThatWithinThem) {
  const Values groups[] = {{1, 3}, {101, 103}, {7}};
  const RunSpread spread = PooledSpread(groups);
  EXPECT_EQ(spread.df, 2);
  EXPECT_NEAR(spread.deviation, std::sqrt(2.0), 1e-12);
}

TEST(AdjustTest, FollowsTheDefinitions) {
  const Values p = {0.01, 0.04, 0.03, 0.5};
  // p x m / rank, then the smallest from there on.
  const Values rates = FalseDiscoveryRates(p);
  EXPECT_NEAR(rates[0], 0.04, 1e-12);
  EXPECT_NEAR(rates[1], 0.04 * 4 / 3, 1e-12);
  EXPECT_NEAR(rates[2], 0.04 * 4 / 3, 1e-12);
  EXPECT_NEAR(rates[3], 0.5, 1e-12);
  const Values adjusted = HolmAdjusted(p);
  EXPECT_NEAR(adjusted[0], 0.04, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.09, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.09, 1e-12);
  EXPECT_NEAR(adjusted[3], 0.5, 1e-12);
}

TEST(DetectableTest, PowerGrowsAndIsAlphaWithoutAChange) {
  const PlannedTest test{5, 5, {0.02, 8}, 0.05, 0};
  EXPECT_NEAR(PowerOf(test, 0), 0.05, 1e-3);
  EXPECT_NEAR(PowerOf(test, DetectableShift(test)), 0.8, 1e-3);
  EXPECT_LT(PowerOf(test, 0.02), PowerOf(test, 0.03));
  // If an estimate must be at least 3 %, a change of 3 % is found in half of the cases.
  const PlannedTest limited{20, 20, {0.002, 38}, 0.05, 0.03};
  EXPECT_NEAR(PowerOf(limited, 0.03), 0.5, 1e-3);
  EXPECT_GT(DetectableShift(limited), 0.03);
}

TEST(BlockBootstrapTest, BlocksFollowTheAutocorrelation) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise;
  Values series;
  double state = 0;
  for (int i = 0; i < 400; ++i) {
    state = 0.9 * state + noise(random);
    series.push_back(state);
  }
  EXPECT_GT(BlockLength(series), 5U);
  EXPECT_EQ(BlockLength(Draw(random, 400, false)), 2U);
  EXPECT_EQ(BlockLength(Values(20, 1.0)), 2U);
}

TEST(BlockBootstrapTest, HoldsTheShiftAndRepeatsItself) {
  std::mt19937 random(6);
  Values base = Draw(random, 40, false);
  Values test = base;
  for (double& value : test) {
    value += 10;
  }
  const ShiftInterval interval = ShiftWithinRuns(base, test, 0.05).value();
  EXPECT_LT(interval.low, 10);
  EXPECT_GT(interval.high, 10);
  EXPECT_EQ(interval.low, ShiftWithinRuns(base, test, 0.05)->low);
  EXPECT_FALSE(ShiftWithinRuns(Values(4, 1.0), test, 0.05).has_value());
}

}  // namespace

}  // namespace borescope::internal
