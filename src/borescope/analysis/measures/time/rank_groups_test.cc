#include "borescope/analysis/measures/time/rank_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "borescope/analysis/core/row.h"

namespace borescope::internal {

namespace {

bool Touch(const GridPoint& a, const GridPoint& b, double side) {
  for (size_t i = 0; i < kPointSize; ++i) {
    if (std::abs(std::floor(a[i] / side) - std::floor(b[i] / side)) > 1) return false;
  }
  return true;
}

// Every pair is compared until no group changes any more.
std::vector<uint32_t> SlowGroups(const std::vector<GridPoint>& points, double side) {
  std::vector<uint32_t> groups(points.size());
  for (uint32_t i = 0; i < points.size(); ++i) groups[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < points.size(); ++i) {
      for (size_t j = 0; j < points.size(); ++j) {
        if (groups[j] > groups[i] && Touch(points[i], points[j], side)) {
          groups[j] = groups[i];
          changed = true;
        }
      }
    }
  }
  std::map<uint32_t, uint32_t> numbers;
  for (uint32_t& group : groups) {
    group = numbers.try_emplace(group, static_cast<uint32_t>(numbers.size())).first->second;
  }
  return groups;
}

TEST(PointGroups, AreThoseOfTheSlowTwin) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::uniform_real_distribution<double> place(-1, round % 3 == 0 ? 0.2 : 3);
    std::vector<GridPoint> points(random() % 60);
    for (GridPoint& point : points) {
      for (double& x : point) x = random() % 3 == 0 ? 0 : place(random);
    }
    const double side = 0.05 + static_cast<double>(round % 7) * 0.1;
    EXPECT_EQ(GroupPoints(points, side), SlowGroups(points, side)) << round;
  }
}

TEST(PointGroups, OneNumberPlacesNoPointTwice) {
  EXPECT_EQ(GroupPoints({}, 1), std::vector<uint32_t>());
  const std::vector<GridPoint> points = {{9, 9}, {0}, {9, 9}, {5e30}, {0, 0.5}};
  EXPECT_EQ(GroupPoints(points, 1), (std::vector<uint32_t>{0, 1, 0, 2, 1}));
}

TEST(PointGroups, NearnessFollowsFromThePoints) {
  EXPECT_EQ(CellSide({}, 0.02), 0.02);
  EXPECT_EQ(CellSide(std::vector<GridPoint>{{1}}, 0.02), 0.02);
  EXPECT_EQ(CellSide(std::vector<GridPoint>{{1}, {1}, {1}, {7}}, 0.02), 0.02);
  EXPECT_DOUBLE_EQ(CellSide(std::vector<GridPoint>{{0}, {1}, {2}, {30}}, 0.02), 4);
}

using Parts = std::array<double, 4>;  // in milliseconds

Table BreakdownOf(const std::vector<Parts>& ranks) {
  Table table{"breakdown", "", {}};
  for (const char* name :
       {"rank", "gpu", "span_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"}) {
    AddInt(table, name, Unit::kNone, Role::kKey, "");
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    Row row(table);
    row.Count(rank).Int(0);
    int64_t span = 0;
    std::vector<int64_t> parts;
    for (const double ms : ranks[rank]) {
      parts.push_back(static_cast<int64_t>(ms * 1e6));
      span += parts.back();
    }
    row.Int(span);
    for (const int64_t part : parts) row.Int(part);
  }
  return table;
}

// Ranks whose times are those of `planted`, with noise of `noise` of the span.
std::vector<Parts> Noisy(size_t ranks, uint32_t seed, double noise,
                         const std::function<Parts(size_t)>& planted) {
  std::mt19937 random(seed);
  std::normal_distribution<double> error(0, noise * 100);
  std::vector<Parts> noisy;
  for (size_t rank = 0; rank < ranks; ++rank) {
    Parts parts = planted(rank);
    for (double& part : parts) part = std::max(0.0, part + error(random));
    noisy.push_back(parts);
  }
  return noisy;
}

TEST(RankGroups, PlantedStagesAndOutliersAreFound) {
  // Four stages of a pipeline, and one rank whose computation is slow.
  const auto planted = [](size_t rank) -> Parts {
    const double bubble = static_cast<double>(rank % 4) * 15;
    return rank == 21 ? Parts{85, 5, 0, 40} : Parts{50, 30 - bubble / 2, 2, 18 + bubble / 2};
  };
  size_t exact = 0;
  constexpr uint32_t kSeeds = 200;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Table groups = RankGroups(BreakdownOf(Noisy(256, seed, 0.004, planted)));
    exact += groups.rows() == 5 && Texts(groups, "members")[0] == "0..252 step 4" &&
             Texts(groups, "members")[4] == "21" &&
             Texts(groups, "differs")[4].find("compute +3") != std::string::npos;
  }
  EXPECT_GE(exact, kSeeds * 99 / 100);
}

TEST(RankGroups, NoiseMakesNoGroups) {
  size_t one = 0;
  size_t tried = 0;
  for (const size_t ranks : {size_t{17}, size_t{64}, size_t{512}}) {
    for (const double noise : {0.0, 0.003, 0.01, 0.03}) {
      for (uint32_t seed = 0; seed < 25; ++seed) {
        const auto alike = [](size_t) { return Parts{50, 25, 5, 20}; };
        one += RankGroups(BreakdownOf(Noisy(ranks, seed, noise, alike))).rows() == 1;
        ++tried;
      }
    }
  }
  EXPECT_GE(one, tried * 95 / 100) << "of " << tried;
}

TEST(RankGroups, FewRanksAreShownOneByOne) {
  EXPECT_EQ(RankGroups(BreakdownOf(std::vector<Parts>(16, {1, 1, 1, 1}))).rows(), 0U);
  const Table groups = RankGroups(BreakdownOf(std::vector<Parts>(17, {1, 1, 1, 1})));
  ASSERT_EQ(groups.rows(), 1U);
  EXPECT_EQ(Ints(groups, "ranks")[0], 17);
  EXPECT_EQ(Texts(groups, "members")[0], "0..16");
  EXPECT_TRUE(groups.Find("differs")->IsMissing(0));
  EXPECT_EQ(Floats(groups, "span_ns")[0], 4e6);
}

TEST(RankGroups, NumbersAreListedInFewWords) {
  const auto list = [](std::vector<int64_t> numbers) { return ListNumbers(numbers); };
  EXPECT_EQ(list({}), "");
  EXPECT_EQ(list({7}), "7");
  EXPECT_EQ(list({7, 8}), "7, 8");
  EXPECT_EQ(list({0, 1, 2, 4, 5, 6}), "0..2, 4..6");
  EXPECT_EQ(list({1, 9, 17, 25, 33}), "1..33 step 8");
  EXPECT_EQ(list({1, 9, 17}), "1, 9, 17");
  EXPECT_EQ(list({0, 2, 5, 9, 14, 20, 27, 35}), "0, 2, 5, 9, 14, 20, …");
}

}  // namespace

}  // namespace borescope::internal
