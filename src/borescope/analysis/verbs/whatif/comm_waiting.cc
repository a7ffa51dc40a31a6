#include "borescope/analysis/verbs/whatif/comm_waiting.h"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

double CommWaiting::share() const { return ShareOf(waiting_ns, all_ns); }

bool CommWaiting::Matters() const {
  constexpr double kHardlyAny = 0.1;
  return has_others || share() >= kHardlyAny;
}

std::string WordsOf(const CommWaiting& waiting) {
  return waiting.all_ns == 0 ? "part of the time of communication is waiting for other ranks"
                             : FormatShare(waiting.share()) +
                                   " of the time in collectives is waiting for other ranks";
}

std::map<int64_t, CommWaiting> CommWaitingOf(const Tables& mapped) {
  const Table& ranks = GetTable(mapped, "ranks");
  const CollectiveKeys keys(GetTable(mapped, "keys"));
  const std::vector<MatchedCall> calls =
      SortedCalls(GetTable(mapped, "calls"), keys, PlacesOfRanks(ranks));
  using Alike = std::tuple<uint32_t, uint32_t, int64_t>;  // rank, key, bytes
  const auto alike = [](const MatchedCall& call) {
    return Alike{call.score, call.key, call.bytes};
  };
  std::map<Alike, int64_t> fastest_ns;
  for (const MatchedCall& call : calls) {
    const auto at = fastest_ns.try_emplace(alike(call), call.dur_ns).first;
    at->second = std::min(at->second, call.dur_ns);
  }
  std::vector<CommWaiting> waiting(ranks.rows());
  ForEachCollective(calls, keys, [&](std::span<const MatchedCall> collective, bool is_matched) {
    int64_t shortest_ns = collective.front().dur_ns;
    for (const MatchedCall& call : collective) {
      shortest_ns = std::min(shortest_ns, call.dur_ns);
    }
    for (const MatchedCall& call : collective) {
      const int64_t transfer_ns = is_matched ? shortest_ns : fastest_ns.at(alike(call));
      AddSaturatingTo(waiting[call.score].all_ns, call.dur_ns);
      AddSaturatingTo(waiting[call.score].waiting_ns, call.dur_ns - transfer_ns);
    }
  });
  std::map<int64_t, CommWaiting> by_rank;
  for (size_t place = 0; place < ranks.rows(); ++place) {
    waiting[place].has_others = Ints(ranks, "unused")[place] > 0;
    by_rank.emplace(Ints(ranks, "rank")[place], waiting[place]);
  }
  return by_rank;
}

}  // namespace borescope::internal
