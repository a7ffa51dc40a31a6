#include "borescope/analysis/measures/rank_clocks/meetings.h"

#include <algorithm>
#include <tuple>

#include "borescope/base/stop.h"

namespace borescope::internal {

VisitsByRank::VisitsByRank(const Meetings& meetings)
    : places_(meetings.visits.size()), first_(meetings.ranks + 1, 0) {
  for (const Visit& visit : meetings.visits) ++first_[visit.rank + 1];
  for (size_t rank = 0; rank < meetings.ranks; ++rank) first_[rank + 1] += first_[rank];
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (size_t meeting = 0; meeting < meetings.size(); ++meeting) {
    CheckStopAt(meeting);
    for (size_t visit = meetings.first[meeting]; visit < meetings.first[meeting + 1]; ++visit) {
      places_[next[meetings.visits[visit].rank]++] = {meeting, visit};
    }
  }
  const auto order = [&](const Place& place) {
    const Visit& visit = meetings.visits[place.visit];
    return std::tuple(visit.leave_ns, visit.enter_ns, place.visit);
  };
  for (size_t rank = 0; rank < meetings.ranks; ++rank) {
    std::sort(places_.begin() + static_cast<std::ptrdiff_t>(first_[rank]),
              places_.begin() + static_cast<std::ptrdiff_t>(first_[rank + 1]),
              [&](const Place& a, const Place& b) { return order(a) < order(b); });
  }
}

}  // namespace borescope::internal
