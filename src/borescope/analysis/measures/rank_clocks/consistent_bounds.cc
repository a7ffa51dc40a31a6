#include "borescope/analysis/measures/rank_clocks/consistent_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

#include "borescope/base/saturating.h"

namespace borescope::internal {
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
