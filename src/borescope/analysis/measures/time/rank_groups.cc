#include "borescope/analysis/measures/time/rank_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

using Cell = std::array<int64_t, kPointSize>;

// Cells that are very far out become one cell; measured times are never there.
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

// Groups of points, each represented by one of its points: union-find.
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
  // The earlier point represents the joined group.
  void Join(uint32_t a, uint32_t b) {
    const uint32_t first = Find(a);
    const uint32_t second = Find(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<uint32_t> parent_;
};

// Calls `visit` for the cell and all cells that touch it.
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
  for (const uint32_t i : EachRow(points.size())) {
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

namespace {

// Part of the median span: smaller differences do not separate groups.
constexpr double kSmallestDifference = 0.02;

// The parts into which the time of a rank is divided.
struct ComparedPart {
  std::string_view column;
  std::string_view name;
};
constexpr ComparedPart kCompared[kPointSize] = {{"compute_ns", "compute"},
                                                {"exposed_comm_ns", "exposed communication"},
                                                {"exposed_copy_ns", "exposed copies"},
                                                {"idle_ns", "idle"}};

// The time of one rank, summed over its devices.
struct RankTime {
  int64_t rank = 0;
  int64_t span_ns = 0;
  std::array<int64_t, kPointSize> parts_ns = {};
};

// By rank.
std::vector<RankTime> TimesOf(const Table& breakdown) {
  std::map<int64_t, RankTime> times;
  for (size_t row = 0; row < breakdown.rows(); ++row) {
    const int64_t rank = Ints(breakdown, "rank")[row];
    RankTime& time = times[rank];
    time.rank = rank;
    time.span_ns = AddSaturating(time.span_ns, Ints(breakdown, "span_ns")[row]);
    for (size_t part = 0; part < kPointSize; ++part) {
      time.parts_ns[part] =
          AddSaturating(time.parts_ns[part], Ints(breakdown, kCompared[part].column)[row]);
    }
  }
  std::vector<RankTime> ordered;
  ordered.reserve(times.size());
  for (const auto& [rank, time] : times) {
    ordered.push_back(time);
  }
  return ordered;
}

// The median span of all ranks, at least 1 ns.
double MedianSpan(const std::vector<RankTime>& times) {
  std::vector<int64_t> spans;
  spans.reserve(times.size());
  for (const RankTime& time : times) {
    spans.push_back(time.span_ns);
  }
  return static_cast<double>(std::max<int64_t>(LowerMedian(spans), 1));
}

std::vector<GridPoint> PointsOf(const std::vector<RankTime>& times, double median_ns) {
  std::vector<GridPoint> points;
  for (const RankTime& time : times) {
    GridPoint point{};
    for (size_t part = 0; part < kPointSize; ++part) {
      point[part] = static_cast<double>(time.parts_ns[part]) / median_ns;
    }
    points.push_back(point);
  }
  return points;
}

struct Group {
  std::vector<int64_t> ranks;
  double span_ns = 0;  // sums, then means
  std::array<double, kPointSize> parts_ns = {};
};

void Add(const RankTime& time, Group& group) {
  group.ranks.push_back(time.rank);
  group.span_ns += static_cast<double>(time.span_ns);
  for (size_t part = 0; part < kPointSize; ++part) {
    group.parts_ns[part] += static_cast<double>(time.parts_ns[part]);
  }
}

void DivideByRanks(Group& group) {
  const auto ranks = static_cast<double>(group.ranks.size());
  group.span_ns /= ranks;
  for (double& part_ns : group.parts_ns) {
    part_ns /= ranks;
  }
}

// The largest group first, and among equally large ones that of the lowest rank.
std::vector<Group> GroupsOf(const std::vector<RankTime>& times, double median_ns) {
  const std::vector<GridPoint> points = PointsOf(times, median_ns);
  const std::vector<uint32_t> numbers = GroupPoints(points, CellSide(points, kSmallestDifference));
  std::vector<Group> groups;
  for (size_t i = 0; i < times.size(); ++i) {
    groups.resize(std::max<size_t>(groups.size(), numbers[i] + 1));
    Add(times[i], groups[numbers[i]]);
  }
  std::for_each(groups.begin(), groups.end(), DivideByRanks);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.ranks.size() > b.ranks.size(); });
  return groups;
}

// The parts in which a group differs from the largest one, the largest difference first: at least
// one, and all that are large enough to separate groups.
std::string DifferenceOf(const Group& group, const Group& largest, double median_ns) {
  std::array<std::pair<double, std::string_view>, kPointSize> differences;
  for (size_t part = 0; part < kPointSize; ++part) {
    differences[part] = {(group.parts_ns[part] - largest.parts_ns[part]) / median_ns,
                         kCompared[part].name};
  }
  std::stable_sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
    return std::abs(a.first) > std::abs(b.first);
  });
  std::string text;
  for (const auto& [difference, name] : differences) {
    if (text.empty() || std::abs(difference) >= kSmallestDifference) {
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name, difference < 0 ? "-" : "+",
                          FormatShare(std::abs(difference)));
    }
  }
  return text;
}

Table NewRankGroups() {
  Table table{"rank_groups", "Ranks by how they spend their time", {}};
  AddInt(table, "group", Unit::kNone, Role::kKey, "Number of the group, the largest first.");
  AddInt(table, "ranks", Unit::kCount, Role::kDerived, "How many ranks it has.");
  AddString(table, "members", Role::kDerived, "The ranks; long lists are cut.");
  AddString(table, "differs", Role::kDerived,
            "How its mean differs from that of the largest group, largest difference first, as "
            "shares of the median span of all ranks; missing for the largest group.");
  const auto mean = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kNanoseconds, Role::kDerived, doc);
  };
  mean("span_ns", "Mean span of a rank; of several devices the sum.");
  mean("compute_ns", "Mean time with computation.");
  mean("exposed_comm_ns", "Mean time with communication and no computation.");
  mean("exposed_copy_ns", "Mean time with copies alone.");
  mean("idle_ns", "Mean time without work.");
  table.preview_rows = 10;
  return table;
}

// The distance from a number to a later one, which may exceed int64_t.
uint64_t Between(int64_t first, int64_t last) {
  return static_cast<uint64_t>(last) - static_cast<uint64_t>(first);
}

// How many of the first numbers are `step` apart.
size_t RunLength(std::span<const int64_t> numbers, uint64_t step) {
  size_t length = 1;
  while (length < numbers.size() && Between(numbers[length - 1], numbers[length]) == step) {
    ++length;
  }
  return length;
}

// The text of the first run of numbers, and how many numbers it covers.
std::pair<std::string, size_t> FirstRun(std::span<const int64_t> numbers) {
  constexpr size_t kProgression = 4;
  const size_t in_row = RunLength(numbers, 1);
  if (in_row > 1) {
    return {fmt::format("{}{}{}", numbers[0], in_row > 2 ? ".." : ", ", numbers[in_row - 1]),
            in_row};
  }
  if (numbers.size() > 1) {
    const uint64_t step = Between(numbers[0], numbers[1]);
    if (const size_t length = RunLength(numbers, step); length >= kProgression) {
      return {fmt::format("{}..{} step {}", numbers[0], numbers[length - 1], step), length};
    }
  }
  return {std::to_string(numbers[0]), 1};
}

}  // namespace

std::string ListNumbers(std::span<const int64_t> numbers) {
  constexpr int kRuns = 6;
  std::string text;
  for (int run = 0; !numbers.empty(); ++run) {
    if (run == kRuns) {
      return text + ", …";
    }
    const auto [words, count] = FirstRun(numbers);
    text += (run == 0 ? "" : ", ") + words;
    numbers = numbers.subspan(count);
  }
  return text;
}

Table RankGroups(const Table& breakdown) {
  Table table = NewRankGroups();
  const std::vector<RankTime> times = TimesOf(OfUsedDevices(breakdown));
  if (times.size() < kManyRanks) {
    return table;
  }
  const double median_ns = MedianSpan(times);
  const std::vector<Group> groups = GroupsOf(times, median_ns);
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    Row row(table);
    row.Int(static_cast<int64_t>(i)).Count(group.ranks.size()).Text(ListNumbers(group.ranks));
    if (i == 0) {
      row.Missing();
    } else {
      row.Text(DifferenceOf(group, groups[0], median_ns));
    }
    row.Float(group.span_ns);
    for (const double part_ns : group.parts_ns) {
      row.Float(part_ns);
    }
  }
  return table;
}

}  // namespace borescope::internal
