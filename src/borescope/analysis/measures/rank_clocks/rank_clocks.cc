#include "borescope/analysis/measures/rank_clocks/rank_clocks.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/rank_clocks/clock_bounds.h"
#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/measures/rank_clocks/clock_lines.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

int64_t CoarsestGrain(const RankClockOptions& options) {
  int64_t coarsest_ns = 1;
  for (const int64_t grain_ns : options.grain_ns) coarsest_ns = std::max(coarsest_ns, grain_ns);
  return coarsest_ns;
}

class Aligner {
 public:
  Aligner(const Meetings& meetings, const RankClockOptions& options)
      : meetings_(meetings),
        options_(options),
        by_rank_(meetings),
        estimate_(EstimateRankClocks(meetings, by_rank_)),
        moments_(FindReferenceMoments(meetings, by_rank_, estimate_)),
        certain_(BoundConsistently(meetings, estimate_, moments_, CoarsestGrain(options))) {
    clocks_.ranks.resize(meetings.ranks);
  }

  RankClocks Run() {
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (estimate_.tree.component[rank] != kNoComponent) SetRank(rank);
    }
    for (const Visit& visit : meetings_.visits) {
      clocks_.correction_ns.push_back(estimate_.CorrectionOf(visit));
    }
    FindSharedClocks();
    CountContradictions();
    RefuseInconsistent();
    clocks_.reference_meeting = std::move(moments_.meeting);
    clocks_.left_ns = std::move(estimate_.left_ns);
    return std::move(clocks_);
  }

 private:
  uint32_t ReferenceOf(uint32_t rank) const {
    return estimate_.tree.first_rank[estimate_.tree.component[rank]];
  }
  void SetRank(uint32_t rank) {
    RankClock& clock = clocks_.ranks[rank];
    const uint32_t reference = ReferenceOf(rank);
    clock.steps = static_cast<int64_t>(estimate_.lines[rank].pieces.size()) - 1;
    clock.component = estimate_.tree.component[rank];
    clock.clock = rank;
    clock.meetings = static_cast<int64_t>(by_rank_.Of(rank).size());
    clock.verdict = clock.steps > 0 ? RankClockVerdict::kStepped : RankClockVerdict::kAligned;
    clock.offset_ns =
        AddSaturating(moments_.correction_ns[rank] - moments_.correction_ns[reference],
                      SubtractSaturating(options_.base_ns[reference], options_.base_ns[rank]));
    SetDrift(rank, reference, clock);
    SetBounds(rank, reference, clock);
    SetError(rank, clock);
  }

  void SetDrift(uint32_t rank, uint32_t reference, RankClock& clock) const {
    const auto places = by_rank_.Of(rank);
    const int64_t span_ns = meetings_.visits[places.back().visit].leave_ns -
                            meetings_.visits[places.front().visit].leave_ns;
    if (span_ns < kLeastDriftSpan) return;
    clock.drift = estimate_.lines[rank].drift - estimate_.lines[reference].drift;
  }

  void SetBounds(uint32_t rank, uint32_t reference, RankClock& clock) const {
    if (rank == reference) return;
    const int64_t low_ns = certain_.bounds.low_ns[rank];
    const int64_t high_ns = certain_.bounds.high_ns[rank];
    if (low_ns != -kUnbounded) clock.low_ns = AddSaturating(clock.offset_ns, low_ns);
    if (high_ns != kUnbounded) clock.high_ns = AddSaturating(clock.offset_ns, high_ns);
  }

  // No more than what is certain, and no less than a clock can show. Of few meetings nothing is
  // known but what is certain.
  void SetError(uint32_t rank, RankClock& clock) const {
    const bool has_few = estimate_.has_few_points[rank] != 0;
    int64_t error_ns = AddSaturating(estimate_.chance_ns[rank], options_.exit_allowance_ns);
    if (clock.low_ns.has_value() && clock.high_ns.has_value()) {
      const int64_t certain_ns =
          std::max(certain_.bounds.high_ns[rank], -certain_.bounds.low_ns[rank]);
      error_ns = has_few ? certain_ns : std::min(error_ns, certain_ns);
    } else if (has_few) {
      constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kFewMeetingsError;
      error_ns =
          std::max(error_ns, std::min(options_.exit_allowance_ns, kMost) * kFewMeetingsError);
    }
    clock.error_ns = std::max(error_ns, options_.grain_ns[rank]);
    clock.whole_error_ns = AddSaturating(clock.error_ns, MostMovedOf(rank));
  }

  // How far the correction at any meeting of the rank is from that at the reference moment.
  int64_t MostMovedOf(uint32_t rank) const {
    int64_t most_ns = 0;
    for (const VisitsByRank::Place& place : by_rank_.Of(rank)) {
      const int64_t moved_ns = SubtractSaturating(
          estimate_.CorrectionOf(meetings_.visits[place.visit]), moments_.correction_ns[rank]);
      most_ns = std::max(most_ns, moved_ns < 0 ? SubtractSaturating(0, moved_ns) : moved_ns);
    }
    return most_ns;
  }

  // By their offsets, each is compared with the first one of its clock. The lines of ranks that
  // share a clock stay as they were estimated: an answer must not depend on the zero of a file's
  // clock.
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
    return left.component == right.component && left.drift == right.drift &&
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
    contradicted_.assign(estimate_.tree.first_rank.size(), 0);
    meetings_of_.assign(estimate_.tree.first_rank.size(), 0);
    for (size_t i = 0; i < meetings_.size(); ++i) {
      size_t last = meetings_.first[i];
      size_t first = last;
      for (size_t k = meetings_.first[i]; k < meetings_.first[i + 1]; ++k) {
        if (EnterOf(k) > EnterOf(last)) last = k;
        if (LeaveOf(k) < LeaveOf(first)) first = k;
      }
      RankClock& late = clocks_.ranks[meetings_.visits[last].rank];
      RankClock& early = clocks_.ranks[meetings_.visits[first].rank];
      const bool is_contradicted =
          meetings_.all_entered[i] != 0 &&
          EnterOf(last) - LeaveOf(first) > AddSaturating(late.error_ns, early.error_ns);
      clocks_.is_contradicted.push_back(is_contradicted ? 1 : 0);
      ++meetings_of_[late.component];
      if (!is_contradicted) continue;
      ++contradicted_[late.component];
      ++late.contradicted;
      ++early.contradicted;
    }
  }

  int64_t EnterOf(size_t visit) const {
    return meetings_.visits[visit].enter_ns + clocks_.correction_ns[visit];
  }
  int64_t LeaveOf(size_t visit) const {
    return meetings_.visits[visit].leave_ns + clocks_.correction_ns[visit];
  }

  // Of the components in which bounds contradict each other, or meetings the clocks.
  void RefuseInconsistent() {
    std::vector<char> is_refused(meetings_of_.size(), 0);
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (estimate_.tree.component[rank] == kNoComponent) continue;
      const bool is_reference = rank == ReferenceOf(rank);
      const int64_t low_ns = certain_.bounds.low_ns[rank];
      const int64_t high_ns = certain_.bounds.high_ns[rank];
      if (low_ns > high_ns || (is_reference && (low_ns > 0 || high_ns < 0))) {
        is_refused[estimate_.tree.component[rank]] = 1;
      }
    }
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (estimate_.tree.component[rank] == kNoComponent) continue;
      RankClock& clock = clocks_.ranks[rank];
      const int64_t few = std::max<int64_t>(meetings_of_[clock.component] / 100,
                                            meetings_of_[clock.component] >= 20 ? 1 : 0);
      const int64_t many = meetings_of_[clock.component] / 3;
      if (is_refused[clock.component] != 0 || contradicted_[clock.component] > many) {
        Refuse(rank, clock);
      } else if (contradicted_[clock.component] > few) {
        clock.verdict = RankClockVerdict::kDoubtful;
        clock.low_ns = clock.high_ns = std::nullopt;
      }
    }
  }

  static void Refuse(uint32_t rank, RankClock& clock) {
    clock.verdict = RankClockVerdict::kNotComparable;
    clock.clock = rank;
    clock.low_ns = clock.high_ns = std::nullopt;
    clock.error_ns = std::numeric_limits<int64_t>::max();
  }

  const Meetings& meetings_;
  const RankClockOptions& options_;
  const VisitsByRank by_rank_;
  ClockEstimate estimate_;
  ReferenceMoments moments_;
  ConsistentBounds certain_;
  RankClocks clocks_;
  std::vector<int64_t> meetings_of_;   // by component
  std::vector<int64_t> contradicted_;  // of these
};

}  // namespace

std::string_view RankClockVerdictName(RankClockVerdict verdict) {
  constexpr std::string_view kNames[] = {"one clock", "aligned",        "stepped",
                                         "doubtful",  "not comparable", "no collectives"};
  return kNames[static_cast<size_t>(verdict)];
}

RankClocks AlignRankClocks(const Meetings& meetings, const RankClockOptions& options) {
  return Aligner(meetings, options).Run();
}

}  // namespace borescope::internal
