#include "borescope/analysis/measures/time/point_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

using Cell = std::array<int64_t, kPointSize>;

// Cells far out are one: no measured time leads there.
Cell CellOf(const GridPoint& point, double side) {
  constexpr double kFar = 1e15;
  Cell cell{};
  for (size_t i = 0; i < kPointSize; ++i) {
    cell[i] = static_cast<int64_t>(std::floor(std::clamp(point[i] / side, -kFar, kFar)));
  }
  return cell;
}

double Distance(const GridPoint& a, const GridPoint& b) {
  double distance = 0;
  for (size_t i = 0; i < kPointSize; ++i) {
    distance = std::max(distance, std::abs(a[i] - b[i]));
  }
  return distance;
}

double ToNearest(std::span<const GridPoint> points, size_t from) {
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < points.size(); ++i) {
    if (i != from) {
      nearest = std::min(nearest, Distance(points[i], points[from]));
    }
  }
  return nearest;
}

// Which points belong together, by one that represents each group.
class Joined {
 public:
  explicit Joined(size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0U); }

  uint32_t Find(uint32_t point) {
    while (parent_[point] != point) {
      parent_[point] = parent_[parent_[point]];
      point = parent_[point];
    }
    return point;
  }
  // The earlier one represents both.
  void Join(uint32_t a, uint32_t b) {
    const uint32_t first = Find(a);
    const uint32_t second = Find(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<uint32_t> parent_;
};

// Calls `visit` for the cell and all that touch it.
template <class Visit>
void ForNeighbours(const Cell& cell, const Visit& visit) {
  constexpr int kNeighbours = 3 * 3 * 3 * 3;
  for (int code = 0; code < kNeighbours; ++code) {
    Cell near = cell;
    for (size_t i = 0, rest = static_cast<size_t>(code); i < kPointSize; ++i, rest /= 3) {
      near[i] += static_cast<int64_t>(rest % 3) - 1;
    }
    visit(near);
  }
}

}  // namespace

double CellSide(std::span<const GridPoint> points, double smallest) {
  constexpr size_t kMeasured = 1024;
  constexpr double kTimes = 4;
  if (points.size() < 2) {
    return smallest;
  }
  const size_t measured = std::min(points.size(), kMeasured);
  std::vector<double> distances;
  for (size_t i = 0; i < measured; ++i) {
    CheckStop();
    distances.push_back(ToNearest(points, i * points.size() / measured));
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return std::max(smallest, kTimes * *middle);
}

std::vector<uint32_t> GroupPoints(std::span<const GridPoint> points, double side) {
  Joined joined(points.size());
  HashMap<Cell, uint32_t> first_of;  // a point of each cell
  for (uint32_t i = 0; i < points.size(); ++i) {
    CheckStopAt(i);
    const Cell cell = CellOf(points[i], side);
    ForNeighbours(cell, [&](const Cell& near) {
      if (const auto other = first_of.find(near); other != first_of.end()) {
        joined.Join(i, other->second);
      }
    });
    first_of.emplace(cell, i);
  }
  std::vector<uint32_t> groups(points.size());
  uint32_t count = 0;
  for (uint32_t i = 0; i < points.size(); ++i) {
    const uint32_t first = joined.Find(i);
    groups[i] = first == i ? count++ : groups[first];
  }
  return groups;
}

}  // namespace borescope::internal
