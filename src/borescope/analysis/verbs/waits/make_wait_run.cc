// Calls of all ranks are matched, and what they did together puts their clocks in line.
#include <algorithm>
#include <set>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collective_kinds.h"
#include "borescope/analysis/measures/rank_clocks/medians.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
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
  static void SetNames(const MatchedCall& first, WaitCollective& made) {
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
bool WaitsForAll(std::string_view kind) {
  return kind == CollectiveKindName(CollectiveKind::kAllReduce) ||
         kind == CollectiveKindName(CollectiveKind::kAllGather) ||
         kind == CollectiveKindName(CollectiveKind::kReduceScatter) ||
         kind == CollectiveKindName(CollectiveKind::kAllToAll) ||
         kind == CollectiveKindName(CollectiveKind::kBarrier);
}

Meetings MeetingsOf(const WaitRun& run, const CollectiveKeys& keys) {
  Meetings meetings;
  meetings.ranks = run.ranks.size();
  for (const WaitCollective& collective : run.collectives) {
    for (const WaitCall& call : run.CallsOf(collective)) {
      meetings.visits.push_back({call.rank, call.begin_ns, call.end_ns});
    }
    meetings.Close(WaitsForAll(keys.Text(collective.key_row, "collective")),
                   keys.Group(collective.key));
  }
  return meetings;
}

// Whether two ranks use devices of one number, which are then in two machines.
bool AreOnSeveralNodes(const Table& ranks) {
  const Column& gpu = *ranks.Find("gpu");
  std::set<int64_t> seen;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    if (!gpu.IsMissing(row) && !seen.insert(Ints(ranks, "gpu")[row]).second) return true;
  }
  return false;
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

WaitRun MakeWaitRun(const Tables& tables, const CollectiveKeys& keys, int64_t exit_skew_ns) {
  WaitRun run;
  run.ranks = Ints(tables[0], "rank");
  const std::vector<MatchedCall> sorted = SortedCalls(tables[2], keys, PlacesOfRanks(tables[0]));
  run.base_ns = BasesOf(run.ranks.size(), sorted);
  Collector collector(Ints(tables[2], "selected"), keys, run);
  ForEachCollective(sorted, keys, [&](std::span<const MatchedCall> calls, bool is_matched) {
    collector.Add(calls, is_matched);
  });
  collector.Finish();
  run.exit_allowance_ns = exit_skew_ns;
  if (exit_skew_ns < 0) {
    run.exit_allowance_ns = AreOnSeveralNodes(tables[0]) ? kExitSkewAcross : kExitSkewInNode;
  }
  run.clocks = AlignRankClocks(MeetingsOf(run, keys),
                               {run.exit_allowance_ns, run.base_ns, Ints(tables[0], "grain_ns")});
  ShiftCalls(run);
  return run;
}

}  // namespace borescope::internal
