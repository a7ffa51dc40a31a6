#include "borescope/analysis/measures/rank_clocks/reference_moments.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/base/intervals.h"

namespace borescope::internal {
namespace {

// When clocks of a component may have been stepped, on the clock that all share: by component.
std::vector<IntervalSet> DoubtfulTimes(const ClockEstimate& estimate) {
  std::vector<std::vector<Interval>> times(estimate.tree.first_rank.size());
  for (size_t rank = 0; rank < estimate.lines.size(); ++rank) {
    const ClockLine& line = estimate.lines[rank];
    for (const Interval& step : line.doubtful) {
      // Before the step it was one time, after it another.
      const size_t after = line.PieceAt(step.end);
      const size_t before = after == 0 ? 0 : after - 1;
      const auto [first, last] = std::minmax({step.begin + line.CorrectionIn(before, step.begin),
                                              step.begin + line.CorrectionIn(after, step.begin),
                                              step.end + line.CorrectionIn(before, step.end),
                                              step.end + line.CorrectionIn(after, step.end)});
      times[estimate.tree.component[rank]].push_back({first, last + 1});
    }
  }
  std::vector<IntervalSet> sets;
  sets.reserve(times.size());
  for (std::vector<Interval>& list : times) sets.push_back(Union(std::move(list)));
  return sets;
}

bool Holds(const IntervalSet& set, int64_t ns) {
  const auto after = std::upper_bound(set.begin(), set.end(), ns,
                                      [](int64_t t, const Interval& i) { return t < i.begin; });
  return after != set.begin() && ns < std::prev(after)->end;
}

// Of a component: the meeting in the middle by time, if no clock was stepped then; else the one
// nearest to it.
size_t MiddleOf(std::vector<size_t> list, const std::vector<int64_t>& left_ns,
                const IntervalSet& doubtful) {
  std::sort(list.begin(), list.end(), [&](size_t a, size_t b) {
    return std::tuple(left_ns[a], a) < std::tuple(left_ns[b], b);
  });
  const size_t middle = list.size() / 2;
  for (size_t away = 0; away <= middle; ++away) {
    if (!Holds(doubtful, left_ns[list[middle - away]])) return list[middle - away];
    const size_t later = middle + away;
    if (later < list.size() && !Holds(doubtful, left_ns[list[later]])) return list[later];
  }
  return list[middle];
}

std::vector<size_t> MiddleMeetings(const Meetings& meetings, const ClockEstimate& estimate) {
  std::vector<std::vector<size_t>> of(estimate.tree.first_rank.size());
  for (size_t i = 0; i < meetings.size(); ++i) {
    of[estimate.tree.component[meetings.Of(i).front().rank]].push_back(i);
  }
  const std::vector<IntervalSet> doubtful = DoubtfulTimes(estimate);
  std::vector<size_t> middles;
  middles.reserve(of.size());
  for (size_t i = 0; i < of.size(); ++i) {
    middles.push_back(MiddleOf(std::move(of[i]), estimate.left_ns, doubtful[i]));
  }
  return middles;
}

// The visit of a rank next to that moment; of several the first.
VisitsByRank::Place VisitAt(std::span<const VisitsByRank::Place> places,
                            const ClockEstimate& estimate, int64_t moment_ns) {
  return *std::min_element(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    return std::abs(estimate.left_ns[a.meeting] - moment_ns) <
           std::abs(estimate.left_ns[b.meeting] - moment_ns);
  });
}

}  // namespace

ReferenceMoments FindReferenceMoments(const Meetings& meetings, const VisitsByRank& by_rank,
                                      const ClockEstimate& estimate) {
  ReferenceMoments moments;
  moments.piece.assign(meetings.ranks, 0);
  moments.correction_ns.assign(meetings.ranks, 0);
  moments.meeting = MiddleMeetings(meetings, estimate);
  for (uint32_t rank = 0; rank < meetings.ranks; ++rank) {
    if (estimate.tree.component[rank] == kNoComponent) continue;
    const int64_t moment_ns = estimate.left_ns[moments.meeting[estimate.tree.component[rank]]];
    const auto place = VisitAt(by_rank.Of(rank), estimate, moment_ns);
    const int64_t leave_ns = meetings.visits[place.visit].leave_ns;
    const ClockLine& line = estimate.lines[rank];
    moments.piece[rank] = line.PieceAt(leave_ns);
    moments.correction_ns[rank] = line.CorrectionIn(
        moments.piece[rank], leave_ns + moment_ns - estimate.left_ns[place.meeting]);
  }
  return moments;
}

}  // namespace borescope::internal
