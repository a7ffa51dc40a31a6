#include "borescope/analysis/measures/rank_clocks/rank_clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/measures/rank_clocks/consistent_bounds.h"
#include "borescope/analysis/measures/rank_clocks/reference_moments.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

// What chance alone may have moved a median by: three standard errors.
int64_t ChanceOf(double sigma_ns, size_t visits) {
  return visits == 0 ? 0 : std::llround(3 * sigma_ns / std::sqrt(static_cast<double>(visits)));
}

class Aligner {
 public:
  Aligner(const Meetings& meetings, const RankClockOptions& options)
      : meetings_(meetings),
        options_(options),
        by_rank_(meetings),
        estimate_(EstimateRankClocks(meetings, by_rank_)),
        moments_(FindReferenceMoments(meetings, by_rank_, estimate_)),
        certain_(BoundConsistently(meetings, estimate_, moments_)) {
    clocks_.ranks.resize(meetings.ranks);
  }

  RankClocks Run() {
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (estimate_.component[rank] != kNoComponent) SetRank(rank);
    }
    FindSharedClocks();
    CountContradictions();
    if (!certain_.bounds.are_consistent) RefuseInconsistent();
    clocks_.reference_meeting = std::move(moments_.meeting);
    clocks_.left_ns = std::move(estimate_.left_ns);
    clocks_.is_contradicted = std::move(certain_.dropped);
    return std::move(clocks_);
  }

 private:
  uint32_t ReferenceOf(uint32_t rank) const {
    return moments_.first_rank[estimate_.component[rank]];
  }
  int64_t Chance(uint32_t rank) const {
    return ChanceOf(estimate_.sigma_ns[rank], by_rank_.Of(rank).size());
  }

  void SetRank(uint32_t rank) {
    RankClock& clock = clocks_.ranks[rank];
    const uint32_t reference = ReferenceOf(rank);
    clock.line = estimate_.lines[rank];
    clock.component = estimate_.component[rank];
    clock.clock = rank;
    clock.meetings = static_cast<int64_t>(by_rank_.Of(rank).size());
    clock.verdict =
        clock.line.pieces.size() > 1 ? RankClockVerdict::kStepped : RankClockVerdict::kAligned;
    clock.offset_ns =
        AddSaturating(moments_.correction_ns[rank] - moments_.correction_ns[reference],
                      SubtractSaturating(options_.base_ns[reference], options_.base_ns[rank]));
    SetDrift(rank, reference, clock);
    SetBounds(rank, reference, clock);
    SetError(rank, reference, clock);
  }

  // Times of visits begin at 0, so that the last one is about the span.
  void SetDrift(uint32_t rank, uint32_t reference, RankClock& clock) const {
    constexpr int64_t kLeastSpan = 1'000'000'000;
    const auto places = by_rank_.Of(rank);
    const int64_t span_ns = meetings_.visits[places.back().visit].leave_ns -
                            meetings_.visits[places.front().visit].leave_ns;
    if (span_ns < kLeastSpan) return;
    clock.drift = estimate_.lines[rank].drift - estimate_.lines[reference].drift;
  }

  void SetBounds(uint32_t rank, uint32_t reference, RankClock& clock) const {
    if (rank == reference) return;
    const int64_t low_ns = certain_.bounds.low_ns[rank];
    const int64_t high_ns = certain_.bounds.high_ns[rank];
    if (low_ns != -kUnbounded) clock.low_ns = AddSaturating(clock.offset_ns, low_ns);
    if (high_ns != kUnbounded) clock.high_ns = AddSaturating(clock.offset_ns, high_ns);
  }

  // No more than what is certain, and no less than a clock can show.
  void SetError(uint32_t rank, uint32_t reference, RankClock& clock) const {
    int64_t error_ns = AddSaturating(Chance(rank), options_.exit_allowance_ns);
    if (rank != reference) AddSaturatingTo(error_ns, Chance(reference));
    if (clock.low_ns.has_value() && clock.high_ns.has_value()) {
      error_ns = std::min(error_ns,
                          std::max(certain_.bounds.high_ns[rank], -certain_.bounds.low_ns[rank]));
    }
    clock.error_ns = std::max(error_ns, options_.grain_ns[rank]);
  }

  // Ranks of one clock need no correction against each other: by their offsets, each is compared
  // with the first one of its clock.
  void FindSharedClocks() {
    std::vector<uint32_t> order;
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (clocks_.ranks[rank].verdict == RankClockVerdict::kAligned) order.push_back(rank);
    }
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const RankClock& left = clocks_.ranks[a];
      const RankClock& right = clocks_.ranks[b];
      return std::tuple(left.component, left.offset_ns, a) <
             std::tuple(right.component, right.offset_ns, b);
    });
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin + 1;
      while (end < order.size() && AreOne(order[begin], order[end])) ++end;
      if (end - begin > 1) ShareClock({order.data() + begin, end - begin});
      begin = end;
    }
  }

  bool AreOne(uint32_t a, uint32_t b) const {
    const RankClock& left = clocks_.ranks[a];
    const RankClock& right = clocks_.ranks[b];
    const int64_t apart_ns = SubtractSaturating(right.offset_ns, left.offset_ns);
    return left.component == right.component && left.line.drift == right.line.drift &&
           apart_ns <= AddSaturating(left.error_ns, right.error_ns);
  }

  void ShareClock(std::span<const uint32_t> ranks) {
    const uint32_t first = *std::min_element(ranks.begin(), ranks.end());
    for (const uint32_t rank : ranks) {
      clocks_.ranks[rank].clock = first;
      clocks_.ranks[rank].verdict = RankClockVerdict::kOneClock;
    }
  }

  void CountContradictions() {
    for (size_t i = 0; i < meetings_.size(); ++i) {
      int64_t last_enter_ns = std::numeric_limits<int64_t>::min();
      int64_t first_leave_ns = std::numeric_limits<int64_t>::max();
      for (const Visit& visit : meetings_.Of(i)) {
        last_enter_ns = std::max(last_enter_ns, Shared(visit, visit.enter_ns));
        first_leave_ns = std::min(first_leave_ns, Shared(visit, visit.leave_ns));
      }
      if (meetings_.all_entered[i] == 0 || last_enter_ns <= first_leave_ns) continue;
      for (const Visit& visit : meetings_.Of(i)) {
        const bool is_cause = Shared(visit, visit.enter_ns) == last_enter_ns ||
                              Shared(visit, visit.leave_ns) == first_leave_ns;
        clocks_.ranks[visit.rank].contradicted += is_cause ? 1 : 0;
      }
    }
  }

  int64_t Shared(const Visit& visit, int64_t ns) const {
    return ns + estimate_.lines[visit.rank].CorrectionAt(visit.leave_ns);
  }

  // Of the components in which bounds contradict each other.
  void RefuseInconsistent() {
    std::vector<char> is_refused(moments_.first_rank.size(), 0);
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (estimate_.component[rank] == kNoComponent) continue;
      const bool is_reference = rank == ReferenceOf(rank);
      const int64_t low_ns = certain_.bounds.low_ns[rank];
      const int64_t high_ns = certain_.bounds.high_ns[rank];
      if (low_ns > high_ns || (is_reference && (low_ns > 0 || high_ns < 0))) {
        is_refused[estimate_.component[rank]] = 1;
      }
    }
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (estimate_.component[rank] == kNoComponent) continue;
      RankClock& clock = clocks_.ranks[rank];
      if (is_refused[clock.component] == 0) continue;
      clock.verdict = RankClockVerdict::kNotComparable;
      clock.clock = rank;
      clock.low_ns = clock.high_ns = std::nullopt;
      clock.error_ns = std::numeric_limits<int64_t>::max();
    }
  }

  const Meetings& meetings_;
  const RankClockOptions& options_;
  const VisitsByRank by_rank_;
  ClockEstimate estimate_;
  ReferenceMoments moments_;
  ConsistentBounds certain_;
  RankClocks clocks_;
};

}  // namespace

std::string_view RankClockVerdictName(RankClockVerdict verdict) {
  constexpr std::string_view kNames[] = {"one clock", "aligned", "stepped", "not comparable",
                                         "no collectives"};
  return kNames[static_cast<size_t>(verdict)];
}

RankClocks AlignRankClocks(const Meetings& meetings, const RankClockOptions& options) {
  return Aligner(meetings, options).Run();
}

}  // namespace borescope::internal
