#include "borescope/analysis/measures/rank_clocks/clock_tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

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

}  // namespace borescope::internal
