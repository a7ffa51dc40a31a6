#include "borescope/analysis/measures/rank_clocks/clock_bounds.h"

#include <algorithm>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
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

}  // namespace borescope::internal
