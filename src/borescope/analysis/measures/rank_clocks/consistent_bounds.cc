#include "borescope/analysis/measures/rank_clocks/consistent_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr size_t kLeastToDropOne = 20;

// Visits while the clock was as at the reference moment, with what it needed then.
Meetings AtReference(const Meetings& meetings, const ClockEstimate& estimate,
                     const ReferenceMoments& moments) {
  Meetings moved;
  moved.ranks = meetings.ranks;
  moved.visits.reserve(meetings.visits.size());
  for (size_t i = 0; i < meetings.size(); ++i) {
    for (const Visit& visit : meetings.Of(i)) {
      if (estimate.lines[visit.rank].PieceAt(visit.leave_ns) != moments.piece[visit.rank]) continue;
      const int64_t by_ns = moments.correction_ns[visit.rank];
      moved.visits.push_back({visit.rank, visit.enter_ns + by_ns, visit.leave_ns + by_ns});
    }
    moved.Close(meetings.all_entered[i] != 0);
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
                              const ReferenceMoments& moments) {
  const double drift = MostDriftOf(estimate);
  std::vector<int64_t> slack_ns;
  for (size_t i = 0; i < meetings.size(); ++i) {
    const uint32_t component = estimate.component[meetings.Of(i).front().rank];
    const int64_t away_ns =
        SubtractSaturating(estimate.left_ns[i], estimate.left_ns[moments.meeting[component]]);
    slack_ns.push_back(std::llround(std::ceil(drift * std::abs(static_cast<double>(away_ns)))));
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
                                   const ReferenceMoments& moments) {
  Meetings moved = AtReference(meetings, estimate, moments);
  const std::vector<int64_t> slack_ns = SlacksOf(meetings, estimate, moments);
  ConsistentBounds found{BoundClocks(moved, slack_ns, moments.first_rank),
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
    found.bounds = BoundClocks(moved, slack_ns, moments.first_rank);
  }
  return found;
}

}  // namespace borescope::internal
