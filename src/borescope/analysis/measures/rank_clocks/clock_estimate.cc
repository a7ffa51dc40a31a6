#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/rank_clocks/clock_lines.h"
#include "borescope/analysis/measures/rank_clocks/medians.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

// Sets of ranks that are connected.
class RankSets {
 public:
  explicit RankSets(size_t ranks) : parent_(ranks) {
    std::iota(parent_.begin(), parent_.end(), uint32_t{0});
  }
  uint32_t Find(uint32_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  // Whether they were apart.
  bool Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<uint32_t> parent_;
};

// Of each group the meeting with the most visits represents it, those of the groups that met most
// often first; then all meetings, for ranks that this leaves out.
std::vector<size_t> MeetingsInOrder(const Meetings& meetings) {
  struct Group {
    size_t count = 0;
    size_t fullest = 0;
  };
  std::map<uint32_t, Group> groups;
  for (size_t i = 0; i < meetings.size(); ++i) {
    Group& group = groups[meetings.group[i]];
    if (group.count == 0 || meetings.Of(i).size() > meetings.Of(group.fullest).size()) {
      group.fullest = i;
    }
    ++group.count;
  }
  std::vector<std::pair<size_t, size_t>> by_count;  // less than none of it, so that most come first
  by_count.reserve(groups.size());
  for (const auto& [number, group] : groups) {
    by_count.emplace_back(meetings.size() - group.count, group.fullest);
  }
  std::sort(by_count.begin(), by_count.end());
  std::vector<size_t> order;
  order.reserve(by_count.size() + meetings.size());
  for (const auto& [count, meeting] : by_count) order.push_back(meeting);
  for (size_t i = 0; i < meetings.size(); ++i) order.push_back(i);
  return order;
}

std::vector<std::vector<uint32_t>> NeighboursOf(const Meetings& meetings) {
  RankSets sets(meetings.ranks);
  std::vector<std::vector<uint32_t>> neighbours(meetings.ranks);
  for (const size_t meeting : MeetingsInOrder(meetings)) {
    CheckStopAt(meeting);
    const uint32_t hub = meetings.Of(meeting).front().rank;
    for (const Visit& visit : meetings.Of(meeting)) {
      if (!sets.Join(hub, visit.rank)) continue;
      neighbours[hub].push_back(visit.rank);
      neighbours[visit.rank].push_back(hub);
    }
  }
  return neighbours;
}

}  // namespace

ClockTree MakeClockTree(const Meetings& meetings) {
  ClockTree tree;
  tree.component.assign(meetings.ranks, kNoComponent);
  const std::vector<std::vector<uint32_t>> neighbours = NeighboursOf(meetings);
  for (uint32_t first = 0; first < meetings.ranks; ++first) {
    if (tree.component[first] != kNoComponent || neighbours[first].empty()) continue;
    const auto component = static_cast<uint32_t>(tree.first_rank.size());
    tree.first_rank.push_back(first);
    tree.component[first] = component;
    std::vector<uint32_t> found{first};
    for (size_t next = 0; next < found.size(); ++next) {
      for (const uint32_t rank : neighbours[found[next]]) {
        if (tree.component[rank] != kNoComponent) continue;
        tree.component[rank] = component;
        tree.edges.push_back({found[next], rank});
        found.push_back(rank);
      }
    }
  }
  return tree;
}

namespace {

// The visit of a rank in a meeting; nullptr if it has none.
const Visit* FindVisit(std::span<const Visit> visits, uint32_t rank) {
  const auto found =
      std::lower_bound(visits.begin(), visits.end(), rank,
                       [](const Visit& visit, uint32_t wanted) { return visit.rank < wanted; });
  return found != visits.end() && found->rank == rank ? &*found : nullptr;
}

// When a meeting was, as far as is known: what one clock says, or the median of all.
using MomentOf = std::function<int64_t(size_t meeting, const Visit& parent)>;

// The meetings of both, in the order in which they were.
std::vector<ClockPoint> CommonPoints(const Meetings& meetings, const VisitsByRank& by_rank,
                                     ClockTree::Edge edge, const MomentOf& moment_of) {
  std::vector<std::pair<int64_t, ClockPoint>> found;
  for (const VisitsByRank::Place& place : by_rank.Of(edge.child)) {
    CheckStopAt(place.meeting);
    const Visit* parent = FindVisit(meetings.Of(place.meeting), edge.parent);
    if (parent == nullptr) continue;
    const int64_t leave_ns = meetings.visits[place.visit].leave_ns;
    found.push_back({moment_of(place.meeting, *parent), {leave_ns, parent->leave_ns - leave_ns}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ClockPoint> points;
  points.reserve(found.size());
  for (const auto& [time, point] : found) points.push_back(point);
  return points;
}

bool AreInOrder(const std::vector<ClockPoint>& points) {
  return std::is_sorted(points.begin(), points.end(),
                        [](const ClockPoint& a, const ClockPoint& b) { return a.at_ns < b.at_ns; });
}

// The first rank of a component has no line. It scatters no more than the line that scatters least
// of those that lead to it.
void SetScatterOfFirst(ClockEstimate& estimate) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  for (const uint32_t first : estimate.tree.first_rank) estimate.scatter_ns[first] = kNone;
  for (const ClockTree::Edge& edge : estimate.tree.edges) {
    const bool is_first =
        estimate.tree.first_rank[estimate.tree.component[edge.parent]] == edge.parent;
    int64_t& least_ns = estimate.scatter_ns[edge.parent];
    if (is_first) least_ns = std::min(least_ns, estimate.scatter_ns[edge.child]);
  }
}

// Whether every two clocks saw their meetings in one order.
bool SetLines(const Meetings& meetings, const VisitsByRank& by_rank, const MomentOf& moment_of,
              ClockEstimate& estimate) {
  bool are_in_order = true;
  for (const uint32_t first : estimate.tree.first_rank) estimate.scatter_ns[first] = 0;
  for (const ClockTree::Edge& edge : estimate.tree.edges) {
    const std::vector<ClockPoint> points = CommonPoints(meetings, by_rank, edge, moment_of);
    are_in_order = are_in_order && AreInOrder(points);
    const PairLine pair = FitPairLine(points);
    estimate.lines[edge.child] = ClockLine::Compose(pair.line, estimate.lines[edge.parent]);
    estimate.scatter_ns[edge.child] = estimate.scatter_ns[edge.parent] + pair.scatter_ns;
    estimate.chance_ns[edge.child] = estimate.chance_ns[edge.parent] + pair.chance_ns;
    estimate.has_few_points[edge.child] =
        pair.has_few_points ? 1 : estimate.has_few_points[edge.parent];
  }
  SetScatterOfFirst(estimate);
  return are_in_order;
}

std::vector<int64_t> MomentsOfLeaving(const Meetings& meetings, const ClockEstimate& estimate) {
  std::vector<int64_t> left_ns;
  left_ns.reserve(meetings.size());
  std::vector<int64_t> leaves;
  for (size_t i = 0; i < meetings.size(); ++i) {
    CheckStopAt(i);
    leaves.clear();
    for (const Visit& visit : meetings.Of(i)) {
      leaves.push_back(visit.leave_ns + estimate.CorrectionOf(visit));
    }
    left_ns.push_back(MedianOf(leaves));
  }
  return left_ns;
}

}  // namespace

ClockEstimate EstimateRankClocks(const Meetings& meetings, const VisitsByRank& by_rank) {
  ClockEstimate estimate;
  estimate.tree = MakeClockTree(meetings);
  estimate.lines.resize(meetings.ranks);
  estimate.chance_ns.assign(meetings.ranks, 0);
  estimate.scatter_ns.assign(meetings.ranks, 0);
  estimate.has_few_points.assign(meetings.ranks, 0);
  const bool are_in_order = SetLines(
      meetings, by_rank, [](size_t, const Visit& parent) { return parent.leave_ns; }, estimate);
  estimate.left_ns = MomentsOfLeaving(meetings, estimate);
  if (are_in_order) return estimate;
  // A clock was set back, and perhaps that of a parent: the others know the order.
  const std::vector<int64_t> left_ns = estimate.left_ns;
  SetLines(
      meetings, by_rank, [&](size_t meeting, const Visit&) { return left_ns[meeting]; }, estimate);
  estimate.left_ns = MomentsOfLeaving(meetings, estimate);
  return estimate;
}

}  // namespace borescope::internal
