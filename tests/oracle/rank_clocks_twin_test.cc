// Clocks of ranks against what was planted, and the certain bounds against all paths, tried one by
// one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/rank_clocks.h"
#include "tests/oracle/planted_clocks.h"
#include "tests/oracle/random.h"

namespace borescope::internal::testkit {
namespace {

constexpr uint64_t kSeeds = 1000;
constexpr int64_t kFar = int64_t{1} << 50;

// ---- Bounds ----

// The largest x_to - x_from that is possible, for all pairs: the obvious way (Floyd, Warshall).
std::vector<std::vector<int64_t>> AllDifferences(const Meetings& meetings,
                                                 const std::vector<int64_t>& slack_ns) {
  std::vector<std::vector<int64_t>> most(meetings.ranks,
                                         std::vector<int64_t>(meetings.ranks, kFar));
  for (size_t i = 0; i < meetings.size(); ++i) {
    if (meetings.all_entered[i] == 0) continue;
    for (const Visit& left : meetings.Of(i)) {
      for (const Visit& entered : meetings.Of(i)) {
        int64_t& bound = most[left.rank][entered.rank];
        bound = std::min(bound, left.leave_ns - entered.enter_ns + slack_ns[i]);
      }
    }
  }
  for (size_t rank = 0; rank < meetings.ranks; ++rank) {
    most[rank][rank] = std::min<int64_t>(most[rank][rank], 0);
  }
  for (size_t via = 0; via < meetings.ranks; ++via) {
    for (size_t a = 0; a < meetings.ranks; ++a) {
      for (size_t b = 0; b < meetings.ranks; ++b) {
        most[a][b] = std::min(most[a][b], most[a][via] + most[via][b]);
      }
    }
  }
  return most;
}

Meetings RandomMeetings(Random& random) {
  Meetings meetings;
  meetings.ranks = static_cast<size_t>(random.Between(2, 6));
  const int64_t count = random.Between(1, 6);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = random.Between(0, 1000);
    for (uint32_t rank = 0; rank < meetings.ranks; ++rank) {
      if (random.Chance(0.4)) continue;
      const int64_t enter = at + random.Between(-40, 40);
      meetings.visits.push_back({rank, enter, enter + random.Between(0, 120)});
    }
    meetings.Close(random.Chance(0.9), 0);
  }
  return meetings;
}

TEST(RankClocksTwinTest, BoundsAreTheShortestPaths) {
  int consistent = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Meetings meetings = RandomMeetings(random);
    std::vector<int64_t> slack_ns;
    for (size_t i = 0; i < meetings.size(); ++i) slack_ns.push_back(random.Between(0, 5));
    const auto most = AllDifferences(meetings, slack_ns);
    const uint32_t reference = 0;
    const ClockBounds bounds = BoundClocks(meetings, slack_ns, {&reference, 1});
    bool is_possible = true;
    for (uint32_t rank = 0; rank < meetings.ranks; ++rank) {
      const bool is_linked = most[0][rank] < kFar / 2 || most[rank][0] < kFar / 2;
      is_possible = is_possible && (most[rank][rank] >= 0 || !is_linked);
    }
    ASSERT_EQ(bounds.are_consistent, is_possible);
    if (!is_possible) continue;
    ++consistent;
    for (uint32_t rank = 0; rank < meetings.ranks; ++rank) {
      const bool has_bounds = most[0][rank] < kFar / 2;
      EXPECT_EQ(bounds.high_ns[rank], has_bounds ? most[0][rank] : kUnbounded);
      EXPECT_EQ(bounds.low_ns[rank], has_bounds ? -most[rank][0] : -kUnbounded);
    }
  }
  EXPECT_GT(consistent, 500);
}

// ---- Planted clocks ----

struct Outcome {
  int outside_bounds = 0;
  int without_bounds = 0;
  int outside_error = 0;
};

Outcome Compare(const PlantedClocks& planted) {
  const RankClocks clocks = AlignRankClocks(planted.meetings, planted.options);
  Outcome outcome;
  for (uint32_t rank = 1; rank < planted.clocks.size(); ++rank) {
    const RankClock& clock = clocks.ranks[rank];
    const int64_t truth = planted.TrueOffset(rank, 0, clocks.reference_meeting[clock.component]);
    const bool has_bounds = clock.low_ns.has_value() && clock.high_ns.has_value();
    const bool is_inside = has_bounds && *clock.low_ns <= truth && truth <= *clock.high_ns;
    outcome.without_bounds += has_bounds ? 0 : 1;
    outcome.outside_bounds += has_bounds && !is_inside ? 1 : 0;
    outcome.outside_error += std::abs(clock.offset_ns - truth) <= clock.error_ns ? 0 : 1;
  }
  return outcome;
}

// Of how many seeds something was wrong for a rank.
struct Wrong {
  int bounds = 0;
  int missing_bounds = 0;
  int estimates = 0;
};

Wrong WrongOf(uint64_t seeds, const ClockPlan& plan) {
  Wrong wrong;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Outcome outcome = Compare(PlantClocks(seed, plan));
    if (outcome.outside_bounds > 0) std::cout << "outside of its bounds: seed " << seed << '\n';
    wrong.bounds += outcome.outside_bounds > 0 ? 1 : 0;
    wrong.missing_bounds += outcome.without_bounds > 0 ? 1 : 0;
    wrong.estimates += outcome.outside_error > 0 ? 1 : 0;
  }
  return wrong;
}

TEST(RankClocksTwinTest, PlantedClocksAreFound) {
  const Wrong wrong = WrongOf(kSeeds, {});
  EXPECT_EQ(wrong.bounds, 0);
  EXPECT_LE(wrong.missing_bounds, 2);  // tails in a row that look like steps
  EXPECT_LE(wrong.estimates, static_cast<int>(kSeeds) / 100);
}

// Two steps at nearly the same time, or one with very few meetings on a side, may stay unseen; then
// meetings contradict the clocks, and no bounds are given.
TEST(RankClocksTwinTest, PlantedClocksThatAreSteppedAreFound) {
  const Wrong wrong = WrongOf(kSeeds, {.step_chance = 0.1});
  EXPECT_EQ(wrong.bounds, 0);
  EXPECT_LE(wrong.missing_bounds, static_cast<int>(kSeeds) / 10);
  EXPECT_LE(wrong.estimates, static_cast<int>(kSeeds) / 100);
}

// A rank that always leaves much later looks as if its clock were ahead: the estimate is wrong, and
// the bounds still hold.
TEST(RankClocksTwinTest, BoundsHoldWhateverTheExitBias) {
  const Wrong wrong = WrongOf(kSeeds, {.most_bias_ns = 60'000});
  EXPECT_EQ(wrong.bounds, 0);
  EXPECT_GT(wrong.estimates, static_cast<int>(kSeeds) / 2);
}

TEST(RankClocksTwinTest, ShiftedClocksChangeNothingElse) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    PlantedClocks planted = PlantClocks(seed, {.step_chance = 0.1});
    const RankClocks before = AlignRankClocks(planted.meetings, planted.options);
    planted.options.base_ns[1] += 123'456'789;
    const RankClocks after = AlignRankClocks(planted.meetings, planted.options);
    EXPECT_EQ(after.ranks[1].offset_ns, before.ranks[1].offset_ns - 123'456'789);
    EXPECT_EQ(after.ranks[1].error_ns, before.ranks[1].error_ns);
    EXPECT_EQ(after.left_ns, before.left_ns);
  }
}

}  // namespace
}  // namespace borescope::internal::testkit
