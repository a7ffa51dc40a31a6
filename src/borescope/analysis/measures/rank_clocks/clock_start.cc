#include "borescope/analysis/measures/rank_clocks/clock_start.h"

#include <algorithm>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/measures/rank_clocks/medians.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The visit of a rank in a meeting; nullptr if it has none.
const Visit* FindVisit(std::span<const Visit> visits, uint32_t rank) {
  const auto found =
      std::lower_bound(visits.begin(), visits.end(), rank,
                       [](const Visit& visit, uint32_t r) { return visit.rank < r; });
  return found != visits.end() && found->rank == rank ? &*found : nullptr;
}

class Spreading {
 public:
  Spreading(const Meetings& meetings, const VisitsByRank& by_rank)
      : meetings_(meetings), by_rank_(by_rank), was_used_(meetings.size(), 0) {
    start_.offset_ns.assign(meetings.ranks, 0);
    start_.component.assign(meetings.ranks, kNoComponent);
  }

  ClockStart Run() {
    uint32_t component = 0;
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (start_.component[rank] == kNoComponent && !by_rank_.Of(rank).empty()) {
        SpreadFrom(rank, component++);
      }
    }
    return std::move(start_);
  }

 private:
  void SpreadFrom(uint32_t first, uint32_t component) {
    std::vector<uint32_t> found{first};
    start_.component[first] = component;
    for (size_t next = 0; next < found.size(); ++next) {
      for (const VisitsByRank::Place& place : by_rank_.Of(found[next])) {
        CheckStopAt(place.meeting);
        if (was_used_[place.meeting] == 0) AddOthers(place.meeting, found[next], found);
      }
    }
  }

  void AddOthers(size_t meeting, uint32_t from, std::vector<uint32_t>& found) {
    was_used_[meeting] = 1;
    for (const Visit& visit : meetings_.Of(meeting)) {
      if (start_.component[visit.rank] != kNoComponent) continue;
      start_.component[visit.rank] = start_.component[from];
      start_.offset_ns[visit.rank] = start_.offset_ns[from] + MedianDifference(from, visit.rank);
      found.push_back(visit.rank);
    }
  }

  // What is to be added to times of `rank` to get those of `from`.
  int64_t MedianDifference(uint32_t from, uint32_t rank) const {
    std::vector<int64_t> differences;
    for (const VisitsByRank::Place& place : by_rank_.Of(rank)) {
      const Visit* other = FindVisit(meetings_.Of(place.meeting), from);
      if (other != nullptr) {
        differences.push_back(other->leave_ns - meetings_.visits[place.visit].leave_ns);
      }
    }
    return MedianOf(differences);
  }

  const Meetings& meetings_;
  const VisitsByRank& by_rank_;
  std::vector<char> was_used_;
  ClockStart start_;
};

}  // namespace

ClockStart StartClocks(const Meetings& meetings, const VisitsByRank& by_rank) {
  return Spreading(meetings, by_rank).Run();
}

}  // namespace borescope::internal
