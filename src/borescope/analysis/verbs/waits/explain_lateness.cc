// Why the last rank of a collective was late: what it did since the previous collective of the
// group, against the medians of what all other ranks did, cause by cause. The numbers of ranks do
// not matter.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/rank_clocks/medians.h"
#include "borescope/analysis/verbs/waits/map_waits.h"
#include "borescope/analysis/verbs/waits/range_maximum.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// Places of calls of one rank, by the time at which they end, with the waiting in them.
class RankWaits {
 public:
  RankWaits(const WaitRun& run, std::vector<uint32_t> calls)
      : run_(run), calls_(Sorted(run, std::move(calls))), largest_(Waits(run, calls_)) {
    before_.push_back(0);
    for (const uint32_t call : calls_) {
      before_.push_back(AddSaturating(before_.back(), run.calls[call].exposed_skew_ns));
    }
  }

  struct Found {
    int64_t ns = 0;
    uint32_t largest_in = kNoCollective;
  };
  // In collectives that end after `begin` and not after `end`, on the clock of the rank.
  Found Between(int64_t begin_ns, int64_t end_ns) const {
    const size_t first = PlaceAfter(begin_ns);
    const size_t last = PlaceAfter(end_ns);
    if (first >= last) return {};
    const size_t largest = largest_.PlaceIn(first, last);
    return {SubtractSaturating(before_[last], before_[first]),
            run_.calls[calls_[largest]].collective};
  }

 private:
  static std::vector<uint32_t> Sorted(const WaitRun& run, std::vector<uint32_t> calls) {
    std::sort(calls.begin(), calls.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(run.calls[a].end_ns, a) < std::tuple(run.calls[b].end_ns, b);
    });
    return calls;
  }
  static std::vector<int64_t> Waits(const WaitRun& run, const std::vector<uint32_t>& calls) {
    std::vector<int64_t> waits;
    waits.reserve(calls.size());
    for (const uint32_t call : calls) waits.push_back(run.calls[call].exposed_skew_ns);
    return waits;
  }
  // The first that ends later.
  size_t PlaceAfter(int64_t ns) const {
    const auto after = std::partition_point(
        calls_.begin(), calls_.end(), [&](uint32_t call) { return run_.calls[call].end_ns <= ns; });
    return static_cast<size_t>(after - calls_.begin());
  }

  const WaitRun& run_;
  std::vector<uint32_t> calls_;
  RangeMaximum largest_;
  std::vector<int64_t> before_;
};

// What a rank did before a call, from an anchor on.
struct TimeBefore {
  uint32_t previous = kNoCollective;  // the anchor: the end of this collective; else the begin of
                                      // the recording
  int64_t anchor_ns = 0;              // on the clock that all share
  int64_t computed_inside_ns = 0;     // in that collective
  CauseNs causes{};                   // add up to the time from there to the call
  uint32_t waited_in = kNoCollective;
};

// The middle of several numbers; of two in the middle their mean.
template <class ValueOf>
int64_t MedianOver(std::span<const TimeBefore> ranks, ValueOf value_of) {
  std::vector<int64_t> values;
  values.reserve(ranks.size());
  for (const TimeBefore& rank : ranks) values.push_back(value_of(rank));
  return MedianOf(values);
}

// What most of the ranks computed at least while they waited: of two in the middle the smaller, so
// that one rank alone does not count where another did without.
int64_t UsuallyComputedInside(std::span<const TimeBefore> ranks) {
  std::vector<int64_t> values;
  values.reserve(ranks.size());
  for (const TimeBefore& rank : ranks) values.push_back(rank.computed_inside_ns);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Who computes while it waits is ahead afterwards; that all leave together does not show it. It
// counts only as far as the others really computed less after that.
int64_t AheadByComputing(const TimeBefore& last, std::span<const TimeBefore> others,
                         int64_t less_computed_ns) {
  const int64_t inside_ns =
      SubtractSaturating(UsuallyComputedInside(others), last.computed_inside_ns);
  return std::max<int64_t>(0, std::min(inside_ns, less_computed_ns));
}

// Those that come from the same collective as the last rank come first: only their anchors can be
// compared with its own. Returns how many these are.
size_t PutComparableFirst(const TimeBefore& last, std::vector<TimeBefore>& others) {
  const auto end = std::stable_partition(
      others.begin(), others.end(),
      [&](const TimeBefore& other) { return other.previous == last.previous; });
  return static_cast<size_t>(end - others.begin());
}

// By how much longer the last rank did what than the others, and was behind before.
CauseNs DifferencesOf(const TimeBefore& last, std::vector<TimeBefore> all_others) {
  const size_t comparable = PutComparableFirst(last, all_others);
  const std::span<const TimeBefore> others =
      std::span<const TimeBefore>(all_others)
          .first(comparable > 0 ? comparable : all_others.size());
  CauseNs causes{};
  for (size_t cause = 0; cause < kLateCauses; ++cause) {
    causes[cause] = SubtractSaturating(
        last.causes[cause],
        MedianOver(others, [&](const TimeBefore& other) { return other.causes[cause]; }));
  }
  const int64_t behind_ns = SubtractSaturating(
      last.anchor_ns, MedianOver(others, [](const TimeBefore& other) { return other.anchor_ns; }));
  if (comparable == 0 || last.previous == kNoCollective) {
    const LateCause cause = comparable == 0 ? LateCause::kUnknown : LateCause::kBeforeRecording;
    AddSaturatingTo(At(causes, cause), behind_ns);
    return causes;
  }
  const int64_t ahead_ns = AheadByComputing(last, others, At(causes, LateCause::kCompute));
  At(causes, LateCause::kCompute) -= ahead_ns;
  At(causes, LateCause::kInherited) = AddSaturating(behind_ns, ahead_ns);
  return causes;
}

class Explainer {
 public:
  Explainer(const Tables& tables, const WaitRun& run)
      : tables_(tables),
        run_(run),
        compute_(ComputeBesideCalls(tables[3], run)),
        previous_(run.calls.size(), kNoCall) {
    std::vector<std::vector<uint32_t>> of_rank(run.ranks.size());
    for (uint32_t i = 0; i < run.calls.size(); ++i) {
      if (run.calls[i].collective != kNoCollective) of_rank[run.calls[i].rank].push_back(i);
    }
    for (std::vector<uint32_t>& calls : of_rank) waits_.emplace_back(run, std::move(calls));
    for (size_t cause = 0; cause < std::size(kGapColumns); ++cause) {
      columns_[cause] = &Ints(tables[2], kGapColumns[cause]);
    }
    FindPrevious();
  }

  Lateness Explain(const WaitCollective& collective) const {
    Lateness late;
    late.all_in_ns = collective.common.all_in_ns;
    // Nobody asked for what others waited in it, but that of later ones may go on to its causes.
    if (collective.is_selected) {
      late.skew_ns = collective.skew_ns;
      late.exposed_skew_ns = collective.exposed_skew_ns;
    }
    if (!collective.last.is_certain) return late;
    const auto last = static_cast<uint32_t>(collective.first + collective.last.last);
    late.last_rank = run_.calls[last].rank;
    const TimeBefore of_last = Before(last);
    std::vector<TimeBefore> others;
    others.reserve(collective.count - 1);
    for (size_t call = collective.first; call < collective.first + collective.count; ++call) {
      if (call != last) others.push_back(Before(static_cast<uint32_t>(call)));
    }
    late.causes = DifferencesOf(of_last, std::move(others));
    late.waited_in = of_last.waited_in;
    late.previous = of_last.previous;
    return late;
  }

 private:
  static constexpr uint32_t kNoCall = ~uint32_t{0};

  // The call of the same rank and group before each.
  void FindPrevious() {
    std::vector<uint32_t> order(run_.calls.size());
    std::iota(order.begin(), order.end(), uint32_t{0});
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const WaitCall& left = run_.calls[a];
      const WaitCall& right = run_.calls[b];
      return std::tuple(left.rank, left.group, left.begin_ns, a) <
             std::tuple(right.rank, right.group, right.begin_ns, b);
    });
    for (size_t i = 1; i < order.size(); ++i) {
      const WaitCall& call = run_.calls[order[i]];
      const WaitCall& before = run_.calls[order[i - 1]];
      if (call.rank == before.rank && call.group == before.group) {
        previous_[order[i]] = order[i - 1];
      }
    }
  }

  // What a rank knows about the time between a call and the one before.
  void AddGap(uint32_t call, CauseNs& causes) const {
    const uint32_t row = run_.calls[call].row;
    for (size_t cause = 0; cause < columns_.size(); ++cause) {
      AddSaturatingTo(causes[cause], (*columns_[cause])[row]);
    }
  }

  TimeBefore Before(uint32_t call) const {
    const WaitCall& of = run_.calls[call];
    TimeBefore before;
    AddGap(call, before.causes);
    uint32_t at = previous_[call];
    // Calls that no other rank has are communication like any other.
    while (at != kNoCall && run_.calls[at].collective == kNoCollective) {
      AddSaturatingTo(At(before.causes, LateCause::kComm),
                      run_.calls[at].end_ns - run_.calls[at].begin_ns);
      AddGap(at, before.causes);
      at = previous_[at];
    }
    SetAnchor(of, at, before);
    MoveWaiting(of, at, before);
    const int64_t known_ns =
        std::accumulate(before.causes.begin(), before.causes.end(), int64_t{0}, AddSaturating);
    At(before.causes, LateCause::kUnknown) =
        SubtractSaturating(SubtractSaturating(of.enter_ns(), before.anchor_ns), known_ns);
    return before;
  }

  void SetAnchor(const WaitCall& of, uint32_t at, TimeBefore& before) const {
    if (at != kNoCall) {
      const WaitCall& previous = run_.calls[at];
      const int64_t base_ns = run_.base_ns[of.rank];
      before.computed_inside_ns = compute_[of.rank].Within(
          AddSaturating(base_ns, previous.begin_ns), AddSaturating(base_ns, previous.end_ns));
      before.previous = previous.collective;
      before.anchor_ns = previous.leave_ns();
      return;
    }
    const int64_t begin_ns =
        SubtractSaturating(Ints(tables_[0], "begin_ns")[of.rank], run_.base_ns[of.rank]);
    before.anchor_ns = AddSaturating(begin_ns, of.shift_ns);
  }

  // What it waited for others is none of its own communication.
  void MoveWaiting(const WaitCall& of, uint32_t at, TimeBefore& before) const {
    const int64_t since_ns =
        at == kNoCall ? std::numeric_limits<int64_t>::min() : run_.calls[at].end_ns;
    const RankWaits::Found waits = waits_[of.rank].Between(since_ns, of.begin_ns);
    int64_t& comm_ns = At(before.causes, LateCause::kComm);
    const int64_t waited_ns = std::clamp<int64_t>(waits.ns, 0, std::max<int64_t>(0, comm_ns));
    comm_ns -= waited_ns;
    At(before.causes, LateCause::kWaiting) = waited_ns;
    before.waited_in = waits.largest_in;
  }

  const Tables& tables_;
  const WaitRun& run_;
  const std::vector<IntervalSums> compute_;  // by rank
  std::vector<uint32_t> previous_;           // by call
  std::vector<RankWaits> waits_;             // by rank
  std::array<const IntValues*, std::size(kGapColumns)> columns_{};
};

}  // namespace

std::vector<Lateness> ExplainLateness(const Tables& tables, const WaitRun& run) {
  const Explainer explainer(tables, run);
  std::vector<Lateness> lateness;
  lateness.reserve(run.collectives.size());
  for (size_t i = 0; i < run.collectives.size(); ++i) {
    CheckStopAt(i);
    lateness.push_back(explainer.Explain(run.collectives[i]));
  }
  return lateness;
}

}  // namespace borescope::internal
