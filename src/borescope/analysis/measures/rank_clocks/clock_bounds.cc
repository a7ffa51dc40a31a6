#include "borescope/analysis/measures/rank_clocks/clock_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

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

namespace {

using Visits = std::span<const Visit>;

// The upper bounds that one meeting gives; whether any became less. Nothing as long as none of its
// ranks has one.
bool TightenHigh(Visits visits, int64_t slack_ns, std::vector<int64_t>& high_ns) {
  int64_t all_in_ns = kUnbounded;
  for (const Visit& visit : visits) {
    all_in_ns = std::min(all_in_ns, AddSaturating(visit.leave_ns, high_ns[visit.rank]));
  }
  if (all_in_ns == kUnbounded) return false;
  bool has_changed = false;
  for (const Visit& visit : visits) {
    const int64_t high = SubtractSaturating(AddSaturating(all_in_ns, slack_ns), visit.enter_ns);
    has_changed |= high < high_ns[visit.rank];
    high_ns[visit.rank] = std::min(high_ns[visit.rank], high);
  }
  return has_changed;
}

// The same for lower bounds.
bool TightenLow(Visits visits, int64_t slack_ns, std::vector<int64_t>& low_ns) {
  int64_t all_in_ns = -kUnbounded;
  for (const Visit& visit : visits) {
    if (low_ns[visit.rank] == -kUnbounded) continue;
    all_in_ns = std::max(all_in_ns, AddSaturating(visit.enter_ns, low_ns[visit.rank]));
  }
  if (all_in_ns == -kUnbounded) return false;
  bool has_changed = false;
  for (const Visit& visit : visits) {
    const int64_t low = SubtractSaturating(SubtractSaturating(all_in_ns, slack_ns), visit.leave_ns);
    has_changed |= low > low_ns[visit.rank];
    low_ns[visit.rank] = std::max(low_ns[visit.rank], low);
  }
  return has_changed;
}

bool AreConsistent(const ClockBounds& bounds, std::span<const uint32_t> references) {
  for (const uint32_t reference : references) {
    if (bounds.high_ns[reference] < 0 || bounds.low_ns[reference] > 0) return false;
  }
  for (size_t rank = 0; rank < bounds.low_ns.size(); ++rank) {
    if (bounds.low_ns[rank] > bounds.high_ns[rank]) return false;
  }
  return true;
}

bool Sweep(const Meetings& meetings, std::span<const int64_t> slack_ns, ClockBounds& bounds) {
  bool has_changed = false;
  for (size_t i = 0; i < meetings.size(); ++i) {
    CheckStopAt(i);
    if (meetings.all_entered[i] == 0) continue;
    has_changed |= TightenHigh(meetings.Of(i), slack_ns[i], bounds.high_ns);
    has_changed |= TightenLow(meetings.Of(i), slack_ns[i], bounds.low_ns);
  }
  return has_changed;
}

}  // namespace

ClockBounds BoundClocks(const Meetings& meetings, std::span<const int64_t> slack_ns,
                        std::span<const uint32_t> references) {
  ClockBounds bounds{std::vector<int64_t>(meetings.ranks, -kUnbounded),
                     std::vector<int64_t>(meetings.ranks, kUnbounded)};
  for (const uint32_t reference : references) {
    bounds.low_ns[reference] = bounds.high_ns[reference] = 0;
  }
  for (int sweep = 0; sweep < kMostBoundSweeps && bounds.are_consistent; ++sweep) {
    const bool has_changed = Sweep(meetings, slack_ns, bounds);
    bounds.are_consistent = AreConsistent(bounds, references);
    if (!has_changed) break;
  }
  return bounds;
}

namespace {

constexpr size_t kLeastToDropOne = 20;

// Whether the clock may have been set just then: by what is seen of it, or as the rank left at
// quite another moment than the others. Visits that only seem odd are no loss: bounds hold without
// them.
bool IsOdd(const Visit& visit, int64_t left_ns, const ClockEstimate& estimate) {
  constexpr int64_t kSigmas = 10;
  constexpr int64_t kLeastScatter = 500;
  const int64_t away_ns = std::abs(visit.leave_ns + estimate.CorrectionOf(visit) - left_ns);
  return away_ns > kSigmas * std::max(kLeastScatter, estimate.scatter_ns[visit.rank]) ||
         estimate.lines[visit.rank].IsDoubtful(visit.enter_ns, visit.leave_ns);
}

// Visits while the clock was as at the reference moment, with what it needed then.
Meetings AtReference(const Meetings& meetings, const ClockEstimate& estimate,
                     const ReferenceMoments& moments) {
  Meetings moved;
  moved.ranks = meetings.ranks;
  moved.visits.reserve(meetings.visits.size());
  for (size_t i = 0; i < meetings.size(); ++i) {
    for (const Visit& visit : meetings.Of(i)) {
      const bool is_as_then =
          estimate.lines[visit.rank].PieceAt(visit.leave_ns) == moments.piece[visit.rank];
      if (!is_as_then || IsOdd(visit, estimate.left_ns[i], estimate)) continue;
      const int64_t by_ns = moments.correction_ns[visit.rank];
      moved.visits.push_back({visit.rank, visit.enter_ns + by_ns, visit.leave_ns + by_ns});
    }
    moved.Close(meetings.all_entered[i] != 0, meetings.group[i]);
  }
  return moved;
}

// What clocks may drift against each other: what is usual, and what was seen.
double MostDriftOf(const ClockEstimate& estimate) {
  double least = 0;
  double most = 0;
  for (const ClockLine& line : estimate.lines) {
    least = std::min(least, line.drift);
    most = std::max(most, line.drift);
  }
  return kAssumedDrift + most - least;
}

std::vector<int64_t> SlacksOf(const Meetings& meetings, const ClockEstimate& estimate,
                              const ReferenceMoments& moments, int64_t grain_ns) {
  const double drift = MostDriftOf(estimate);
  std::vector<int64_t> slack_ns;
  for (size_t i = 0; i < meetings.size(); ++i) {
    const uint32_t component = estimate.tree.component[meetings.Of(i).front().rank];
    const int64_t away_ns =
        SubtractSaturating(estimate.left_ns[i], estimate.left_ns[moments.meeting[component]]);
    slack_ns.push_back(2 * grain_ns +
                       std::llround(std::ceil(drift * std::abs(static_cast<double>(away_ns)))));
  }
  return slack_ns;
}

// By how much a meeting contradicts the estimate; negative if it does not.
int64_t ContradictionOf(std::span<const Visit> visits, int64_t slack_ns) {
  int64_t last_enter_ns = std::numeric_limits<int64_t>::min();
  int64_t first_leave_ns = std::numeric_limits<int64_t>::max();
  for (const Visit& visit : visits) {
    last_enter_ns = std::max(last_enter_ns, visit.enter_ns);
    first_leave_ns = std::min(first_leave_ns, visit.leave_ns);
  }
  return visits.empty()
             ? -1
             : SubtractSaturating(SubtractSaturating(last_enter_ns, first_leave_ns), slack_ns);
}

// The meetings that contradict the estimate, the worst first; at most as many as may be dropped.
std::vector<size_t> Contradicting(const Meetings& moved, std::span<const int64_t> slack_ns) {
  std::vector<std::pair<int64_t, size_t>> found;
  for (size_t i = 0; i < moved.size(); ++i) {
    const int64_t by_ns = ContradictionOf(moved.Of(i), slack_ns[i]);
    if (moved.all_entered[i] != 0 && by_ns > 0) found.emplace_back(-by_ns, i);
  }
  std::sort(found.begin(), found.end());
  const size_t most = moved.size() < kLeastToDropOne ? 0 : std::max<size_t>(1, moved.size() / 100);
  std::vector<size_t> meetings;
  for (size_t i = 0; i < std::min(most, found.size()); ++i) meetings.push_back(found[i].second);
  return meetings;
}

}  // namespace

ConsistentBounds BoundConsistently(const Meetings& meetings, const ClockEstimate& estimate,
                                   const ReferenceMoments& moments, int64_t grain_ns) {
  Meetings moved = AtReference(meetings, estimate, moments);
  const std::vector<int64_t> slack_ns = SlacksOf(meetings, estimate, moments, grain_ns);
  ConsistentBounds found{BoundClocks(moved, slack_ns, estimate.tree.first_rank),
                         std::vector<char>(meetings.size(), 0)};
  if (found.bounds.are_consistent) return found;
  const std::vector<size_t> worst = Contradicting(moved, slack_ns);
  size_t dropped = 0;
  for (size_t more = 1; !found.bounds.are_consistent && dropped < worst.size(); more *= 2) {
    const size_t end = std::min(worst.size(), dropped + more);
    for (; dropped < end; ++dropped) {
      found.dropped[worst[dropped]] = 1;
      moved.all_entered[worst[dropped]] = 0;
    }
    found.bounds = BoundClocks(moved, slack_ns, estimate.tree.first_rank);
  }
  return found;
}

}  // namespace borescope::internal
