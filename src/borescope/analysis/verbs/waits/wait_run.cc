#include "borescope/analysis/verbs/waits/wait_run.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"
#include "borescope/analysis/verbs/waits/blame.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

// Calls of all ranks are matched, and what they did together puts their clocks in line.

namespace {

// Times of a rank count from the middle of its calls, so that a few absurd ones are far away and
// not the others.
std::vector<int64_t> BasesOf(size_t ranks, std::span<const MatchedCall> calls) {
  std::vector<std::vector<int64_t>> begins(ranks);
  for (const MatchedCall& call : calls) begins[call.score].push_back(call.begin_ns);
  std::vector<int64_t> base_ns(ranks, 0);
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<int64_t>& list = begins[rank];
    if (list.empty()) continue;
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    std::nth_element(list.begin(), middle, list.end());
    base_ns[rank] = *middle;
  }
  return base_ns;
}

bool IsNear(int64_t ns) { return ns > -kLargestMeetingTime && ns < kLargestMeetingTime; }

WaitCall CallFrom(const MatchedCall& call, const CollectiveKeys& keys, int64_t base_ns) {
  WaitCall made;
  made.rank = call.score;
  made.group = keys.Group(call.key);
  made.row = call.row;
  made.begin_ns = SubtractSaturating(call.begin_ns, base_ns);
  made.end_ns = SubtractSaturating(call.end_ns, base_ns);
  return made;
}

// The kind that table `keys` has the name of.
CollectiveKind KindNamed(std::string_view name) {
  for (size_t kind = 0; kind < static_cast<size_t>(CollectiveKind::kCount); ++kind) {
    if (CollectiveKindName(static_cast<CollectiveKind>(kind)) == name) {
      return static_cast<CollectiveKind>(kind);
    }
  }
  return CollectiveKind::kUnknown;
}

class Collector {
 public:
  Collector(const IntValues& is_selected, const CollectiveKeys& keys, WaitRun& run)
      : is_selected_(is_selected), keys_(keys), run_(run) {}

  void Add(std::span<const MatchedCall> matched, bool is_matched) {
    std::vector<WaitCall> calls;
    for (const MatchedCall& call : matched) {
      const WaitCall made = CallFrom(call, keys_, run_.base_ns[call.score]);
      // Weeks away from the others: a damaged time.
      if (IsNear(made.begin_ns) && IsNear(made.end_ns)) calls.push_back(made);
    }
    const int64_t group_size = keys_.GroupSize(matched.front().key);
    run_.has_crowded_groups =
        run_.has_crowded_groups ||
        (group_size != kMissing && static_cast<int64_t>(matched.size()) > group_size);
    if (!is_matched || calls.size() < 2) {
      unmatched_.insert(unmatched_.end(), calls.begin(), calls.end());
      return;
    }
    const auto number = static_cast<uint32_t>(run_.collectives.size());
    WaitCollective& made = run_.collectives.emplace_back();
    made.first = run_.calls.size();
    made.count = calls.size();
    SetNames(matched.front(), made);
    for (WaitCall& call : calls) {
      call.collective = number;
      made.is_selected = made.is_selected || is_selected_[call.row] != 0;
      run_.calls.push_back(call);
    }
  }

  void Finish() { run_.calls.insert(run_.calls.end(), unmatched_.begin(), unmatched_.end()); }

 private:
  void SetNames(const MatchedCall& first, WaitCollective& made) const {
    made.kind = KindNamed(keys_.Text(first.key_row, "collective"));
    made.key_row = first.key_row;
    made.key = first.key;
    made.step = first.step;
    made.position = first.position;
    made.bytes = first.bytes;
  }

  const IntValues& is_selected_;  // by row of table `calls`
  const CollectiveKeys& keys_;
  WaitRun& run_;
  std::vector<WaitCall> unmatched_;
};

// None leaves these before all have entered. Of a kind that is not known nothing is certain.
bool WaitsForAll(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll ||
         kind == CollectiveKind::kBarrier;
}

Meetings MeetingsOf(const WaitRun& run, const CollectiveKeys& keys) {
  Meetings meetings;
  meetings.ranks = run.ranks.size();
  for (const WaitCollective& collective : run.collectives) {
    for (const WaitCall& call : run.CallsOf(collective)) {
      meetings.visits.push_back({call.rank, call.begin_ns, call.end_ns});
    }
    meetings.Close(WaitsForAll(collective.kind), keys.Group(collective.key));
  }
  return meetings;
}

// Whether two ranks use devices of one number, which are then in two machines.
bool AreOnSeveralNodes(const std::vector<WaitRankRow>& ranks) {
  std::set<int64_t> seen;
  return std::any_of(ranks.begin(), ranks.end(), [&](const WaitRankRow& rank) {
    return rank.gpu && !seen.insert(*rank.gpu).second;
  });
}

// Calls that were not matched are moved as the ones before them are.
void ShiftCalls(WaitRun& run) {
  std::vector<size_t> order(run.calls.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(run.calls[a].rank, run.calls[a].begin_ns, a) <
           std::tuple(run.calls[b].rank, run.calls[b].begin_ns, b);
  });
  for (size_t i = 0; i < run.clocks.correction_ns.size(); ++i) {
    run.calls[i].shift_ns = run.clocks.correction_ns[i];
  }
  for (size_t i = 1; i < order.size(); ++i) {
    WaitCall& call = run.calls[order[i]];
    const WaitCall& before = run.calls[order[i - 1]];
    if (call.collective == kNoCollective && before.rank == call.rank) {
      call.shift_ns = before.shift_ns;
    }
  }
}

}  // namespace

WaitRun MakeWaitRun(const WaitTables& tables, const CollectiveKeys& keys, int64_t exit_skew_ns) {
  WaitRun run;
  std::vector<int64_t> grain_ns;
  for (const WaitRankRow& rank : tables.ranks) {
    run.ranks.push_back(rank.rank);
    grain_ns.push_back(rank.grain_ns);
  }
  const std::vector<MatchedCall> sorted =
      SortedCalls(tables.calls, keys, PlacesOfRanks(tables.ranks_table));
  run.base_ns = BasesOf(run.ranks.size(), sorted);
  Collector collector(Ints(tables.calls, "selected"), keys, run);
  ForEachCollective(sorted, keys, [&](std::span<const MatchedCall> calls, bool is_matched) {
    collector.Add(calls, is_matched);
  });
  collector.Finish();
  run.exit_allowance_ns = exit_skew_ns;
  if (exit_skew_ns < 0) {
    run.exit_allowance_ns = AreOnSeveralNodes(tables.ranks) ? kExitSkewAcross : kExitSkewInNode;
  }
  run.clocks =
      AlignRankClocks(MeetingsOf(run, keys), {run.exit_allowance_ns, run.base_ns, grain_ns});
  ShiftCalls(run);
  return run;
}

// Every collective is divided, rank by rank, and who was last is found.

namespace {

std::vector<int64_t> ErrorsOf(const WaitRun& run) {
  std::vector<int64_t> error_ns;
  error_ns.reserve(run.clocks.ranks.size());
  for (const RankClock& clock : run.clocks.ranks) error_ns.push_back(clock.error_ns);
  return error_ns;
}

void DivideCall(const CommonTime& common, int64_t base_ns, const IntervalSums& compute,
                WaitCall& call) {
  call.parts = DivideWait({call.rank, call.enter_ns(), call.leave_ns()}, common);
  const int64_t from_ns = AddSaturating(base_ns, call.begin_ns);
  call.exposed_skew_ns =
      call.parts.skew_ns - compute.Within(from_ns, AddSaturating(from_ns, call.parts.skew_ns));
}

}  // namespace

std::vector<IntervalSums> ComputeBesideCalls(const Table& compute, const WaitRun& run) {
  std::vector<IntervalSet> sets(run.ranks.size());
  size_t place = 0;
  for (size_t row = 0; row < compute.rows(); ++row) {
    while (place + 1 < run.ranks.size() && run.ranks[place] != Ints(compute, "rank")[row]) ++place;
    sets[place].push_back({Ints(compute, "begin_ns")[row], Ints(compute, "end_ns")[row]});
  }
  std::vector<IntervalSums> sums;
  sums.reserve(sets.size());
  for (IntervalSet& set : sets) sums.emplace_back(std::move(set));
  return sums;
}

void DivideCollectives(const WaitTables& tables, WaitRun& run) {
  const std::vector<IntervalSums> compute = ComputeBesideCalls(tables.compute, run);
  const std::vector<int64_t> error_ns = ErrorsOf(run);
  std::vector<Arrival> arrivals;
  for (const size_t i : EachIndex(run.collectives.size())) {
    WaitCollective& collective = run.collectives[i];
    arrivals.clear();
    for (const WaitCall& call : run.CallsOf(collective)) {
      arrivals.push_back({call.rank, call.enter_ns(), call.leave_ns()});
    }
    for (const Arrival& arrival : arrivals) {
      AddSaturatingTo(collective.inside_ns, arrival.leave_ns - arrival.enter_ns);
    }
    collective.is_contradicted = run.clocks.is_contradicted[i] != 0;
    collective.common = CommonTimeOf(arrivals);
    collective.last = FindLast(arrivals, error_ns);
    if (collective.is_contradicted) {
      collective.last.is_certain = false;
      continue;
    }
    for (size_t k = collective.first; k < collective.first + collective.count; ++k) {
      WaitCall& call = run.calls[k];
      DivideCall(collective.common, run.base_ns[call.rank], compute[call.rank], call);
      AddSaturatingTo(collective.skew_ns, call.parts.skew_ns);
      AddSaturatingTo(collective.common_ns, call.parts.common_ns);
      AddSaturatingTo(collective.tail_ns, call.parts.tail_ns);
      AddSaturatingTo(collective.exposed_skew_ns, call.exposed_skew_ns);
    }
  }
}

// Why the last rank of a collective was late: what it did since the previous collective of the
// group, against the medians of what all other ranks did, cause by cause. The numbers of ranks do
// not matter.

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

// How far ranks are ahead of the last one by what they computed while they waited. That all leave
// together does not show it. What is not used up before the next collective is still there after
// it, if the same rank is the last one again.
struct Lead {
  uint32_t last_rank = kNobody;
  int64_t left_ns = 0;
};

struct UsedLead {
  int64_t ns = 0;  // by which the others computed less before this collective
  int64_t left_ns = 0;
};

// It counts only as far as the others really computed less. Where the last rank computed as long as
// they did, they had nothing left of earlier leads.
UsedLead UseLead(const TimeBefore& last, std::span<const TimeBefore> others, int64_t earlier_ns,
                 int64_t less_computed_ns) {
  const int64_t computed_ns = At(last.causes, LateCause::kCompute);
  const bool is_even = computed_ns > 0 && less_computed_ns <= computed_ns / 10;
  const int64_t inside_ns =
      SubtractSaturating(UsuallyComputedInside(others), last.computed_inside_ns);
  const int64_t lead_ns = AddSaturating(inside_ns, is_even ? 0 : earlier_ns);
  UsedLead used{.ns = std::max<int64_t>(0, std::min(lead_ns, less_computed_ns))};
  used.left_ns = std::max<int64_t>(0, SubtractSaturating(lead_ns, used.ns));
  return used;
}

// Puts the ranks first that come from the same collective as the last rank: only their anchors can
// be compared with its own. Returns how many these are.
size_t PutComparableFirst(const TimeBefore& last, std::vector<TimeBefore>& others) {
  const auto end = std::stable_partition(
      others.begin(), others.end(),
      [&](const TimeBefore& other) { return other.previous == last.previous; });
  return static_cast<size_t>(end - others.begin());
}

struct Differences {
  CauseNs causes{};
  int64_t lead_left_ns = 0;  // see Lead
};

// By how much longer the last rank did what than the others, and was behind before. `lead_ns`: what
// was left of the lead of the others after the previous collective.
Differences DifferencesOf(const TimeBefore& last, std::vector<TimeBefore> all_others,
                          int64_t lead_ns) {
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
    return {causes};
  }
  const UsedLead lead = UseLead(last, others, lead_ns, At(causes, LateCause::kCompute));
  At(causes, LateCause::kCompute) -= lead.ns;
  At(causes, LateCause::kInherited) = AddSaturating(behind_ns, lead.ns);
  return {causes, lead.left_ns};
}

class Explainer {
 public:
  Explainer(const WaitTables& tables, const WaitRun& run)
      : tables_(tables),
        run_(run),
        compute_(ComputeBesideCalls(tables.compute, run)),
        previous_(run.calls.size(), kNoCall) {
    std::vector<std::vector<uint32_t>> of_rank(run.ranks.size());
    for (uint32_t i = 0; i < run.calls.size(); ++i) {
      if (run.calls[i].collective != kNoCollective) of_rank[run.calls[i].rank].push_back(i);
    }
    for (std::vector<uint32_t>& calls : of_rank) waits_.emplace_back(run, std::move(calls));
    for (size_t cause = 0; cause < std::size(kGapColumns); ++cause) {
      columns_[cause] = &Ints(tables.calls, kGapColumns[cause]);
    }
    FindPrevious();
  }

  // `leads`: by collective; those of earlier ones are used, and that of this one is set.
  Lateness Explain(size_t number, std::vector<Lead>& leads) const {
    const WaitCollective& collective = run_.collectives[number];
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
    const Lead earlier = of_last.previous == kNoCollective ? Lead() : leads[of_last.previous];
    const Differences found = DifferencesOf(
        of_last, std::move(others), earlier.last_rank == late.last_rank ? earlier.left_ns : 0);
    leads[number] = {late.last_rank, found.lead_left_ns};
    late.causes = found.causes;
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
        SubtractSaturating(tables_.ranks[of.rank].begin_ns, run_.base_ns[of.rank]);
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

  const WaitTables& tables_;
  const WaitRun& run_;
  const std::vector<IntervalSums> compute_;  // by rank
  std::vector<uint32_t> previous_;           // by call
  std::vector<RankWaits> waits_;             // by rank
  std::array<const IntValues*, std::size(kGapColumns)> columns_{};
};

}  // namespace

std::vector<Lateness> ExplainLateness(const WaitTables& tables, const WaitRun& run) {
  const Explainer explainer(tables, run);
  std::vector<size_t> by_time(run.collectives.size());
  std::iota(by_time.begin(), by_time.end(), size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(), [&](size_t a, size_t b) {
    return run.collectives[a].common.all_in_ns < run.collectives[b].common.all_in_ns;
  });
  std::vector<Lateness> lateness(run.collectives.size());
  std::vector<Lead> leads(run.collectives.size());
  for (const size_t place : EachIndex(by_time.size())) {
    const size_t i = by_time[place];
    lateness[i] = explainer.Explain(i, leads);
  }
  return lateness;
}

}  // namespace borescope::internal
