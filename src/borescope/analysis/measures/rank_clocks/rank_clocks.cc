#include "borescope/analysis/measures/rank_clocks/rank_clocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

// By component: when any of its clocks may have been stepped, on the shared clock.
std::vector<IntervalSet> DoubtfulTimes(const ClockEstimate& estimate) {
  std::vector<std::vector<Interval>> times(estimate.tree.first_rank.size());
  for (size_t rank = 0; rank < estimate.lines.size(); ++rank) {
    const ClockLine& line = estimate.lines[rank];
    for (const Interval& step : line.doubtful) {
      // The step is at one shared time by the piece before it, and at another by the piece after
      // it.
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

// Among the meetings `list` of a component, the middle one by time if no clock was stepped then;
// else the one nearest to it.
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

// The visit of a rank nearest to a time; the first one of equally near visits.
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

// Applies the upper bounds that one meeting gives, and returns whether any became tighter. Has no
// effect if none of its ranks has an upper bound yet.
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
  for (const size_t i : EachIndex(meetings.size())) {
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

// Whether the clock may have been set just then, by the estimate, or because the rank left at quite
// another time than the others. Leaving out a visit needlessly does no harm: bounds hold without
// it.
bool IsOdd(const Visit& visit, int64_t left_ns, const ClockEstimate& estimate) {
  constexpr int64_t kSigmas = 10;
  constexpr int64_t kLeastScatter = 500;
  const int64_t away_ns = std::abs(visit.leave_ns + estimate.CorrectionOf(visit) - left_ns);
  return away_ns > kSigmas * std::max(kLeastScatter, estimate.scatter_ns[visit.rank]) ||
         estimate.lines[visit.rank].IsDoubtful(visit.enter_ns, visit.leave_ns);
}

// The visits in the piece of the clock that holds at the reference time, with the correction of
// that time.
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

// How much clocks may drift against each other: the usual limit, or the estimated drift if larger.
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

// How much a meeting contradicts the estimate, in ns; negative if it does not.
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

// The meetings that contradict the estimate, the worst first, and at most as many as may be
// dropped.
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

  // The error is at most what the certain bounds allow, and at least the resolution of the clock.
  // With few meetings the certain bounds alone count.
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

  // The largest difference between the correction at a meeting of the rank and that at the
  // reference time.
  int64_t MostMovedOf(uint32_t rank) const {
    int64_t most_ns = 0;
    for (const VisitsByRank::Place& place : by_rank_.Of(rank)) {
      const int64_t moved_ns = SubtractSaturating(
          estimate_.CorrectionOf(meetings_.visits[place.visit]), moments_.correction_ns[rank]);
      most_ns = std::max(most_ns, moved_ns < 0 ? SubtractSaturating(0, moved_ns) : moved_ns);
    }
    return most_ns;
  }

  // Compares the offset of each rank with that of the first rank of a clock. Ranks that share a
  // clock keep their own estimated lines, as an answer must not depend on the zero of a file's
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

  // Sets the verdicts of components whose bounds contradict each other, or whose meetings
  // contradict the clocks.
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
  std::vector<int64_t> contradicted_;  // by component: meetings that contradict the clocks
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
