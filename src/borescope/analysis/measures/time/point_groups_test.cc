#include "borescope/analysis/measures/time/point_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace borescope::internal {
namespace {

bool Touch(const GridPoint& a, const GridPoint& b, double side) {
  for (size_t i = 0; i < kPointSize; ++i) {
    if (std::abs(std::floor(a[i] / side) - std::floor(b[i] / side)) > 1) return false;
  }
  return true;
}

// Every pair is looked at until no group changes any more.
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

}  // namespace
}  // namespace borescope::internal
