#include "borescope/analysis/measures/rank_clocks/reference_moments.h"

#include <algorithm>
#include <tuple>

namespace borescope::internal {
namespace {

// The meeting in the middle by time; by component.
std::vector<size_t> MiddleMeetings(const Meetings& meetings, const ClockEstimate& estimate,
                                   size_t components) {
  std::vector<std::vector<size_t>> of(components);
  for (size_t i = 0; i < meetings.size(); ++i) {
    of[estimate.component[meetings.Of(i).front().rank]].push_back(i);
  }
  std::vector<size_t> middles;
  for (std::vector<size_t>& list : of) {
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    std::nth_element(list.begin(), middle, list.end(), [&](size_t a, size_t b) {
      return std::tuple(estimate.left_ns[a], a) < std::tuple(estimate.left_ns[b], b);
    });
    middles.push_back(*middle);
  }
  return middles;
}

// The visit of a rank from that moment on; its last one if there is none.
VisitsByRank::Place VisitAt(std::span<const VisitsByRank::Place> places,
                            const ClockEstimate& estimate, int64_t moment_ns) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const auto& place) {
    return estimate.left_ns[place.meeting] >= moment_ns;
  });
  return found == places.end() ? places.back() : *found;
}

}  // namespace

ReferenceMoments FindReferenceMoments(const Meetings& meetings, const VisitsByRank& by_rank,
                                      const ClockEstimate& estimate) {
  ReferenceMoments moments;
  moments.piece.assign(meetings.ranks, 0);
  moments.correction_ns.assign(meetings.ranks, 0);
  for (uint32_t rank = 0; rank < meetings.ranks; ++rank) {
    const uint32_t component = estimate.component[rank];
    if (component == moments.first_rank.size()) moments.first_rank.push_back(rank);
  }
  moments.meeting = MiddleMeetings(meetings, estimate, moments.first_rank.size());
  for (uint32_t rank = 0; rank < meetings.ranks; ++rank) {
    if (estimate.component[rank] == kNoComponent) continue;
    const int64_t moment_ns = estimate.left_ns[moments.meeting[estimate.component[rank]]];
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
