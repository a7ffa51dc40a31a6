#include "borescope/rank_numbers.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "borescope/base/check.h"

namespace borescope {
namespace {

void CountConflict(const RankClaim& claim, Diagnostics& diagnostics) {
  if (claim.recorded.has_value() && claim.named.has_value() && *claim.recorded != *claim.named) {
    diagnostics.Count(Diag::kRankConflict, Diagnostics::kNoByte,
                      "recorded rank " + std::to_string(*claim.recorded) + ", file name says " +
                          std::to_string(*claim.named));
  }
}

// The number after the largest; the smallest free one where there is none after it.
int64_t NextFree(const std::set<int64_t>& used) {
  if (used.empty() || *used.rbegin() < 0) {
    return 0;
  }
  int64_t rank = *used.rbegin();
  if (rank < std::numeric_limits<int64_t>::max()) {
    return rank + 1;
  }
  for (rank = 0; used.contains(rank);) {
    ++rank;
  }
  return rank;
}

}  // namespace

std::vector<int64_t> AssignRanks(std::span<const RankClaim> claims,
                                 std::span<Diagnostics> diagnostics) {
  BS_DCHECK(claims.size() == diagnostics.size());
  std::set<int64_t> used;
  std::vector<int64_t> ranks(claims.size());
  std::vector<size_t> without;
  for (size_t i = 0; i < claims.size(); ++i) {
    CountConflict(claims[i], diagnostics[i]);
    const std::optional<int64_t> claimed = claims[i].best();
    if (claimed.has_value() && used.insert(*claimed).second) {
      ranks[i] = *claimed;
    } else {
      without.push_back(i);
    }
  }
  for (const size_t i : without) {
    ranks[i] = NextFree(used);
    used.insert(ranks[i]);
    const std::optional<int64_t> claimed = claims[i].best();
    const std::string given = "now rank " + std::to_string(ranks[i]);
    if (claimed.has_value()) {
      diagnostics[i].Count(Diag::kDuplicateRank, Diagnostics::kNoByte,
                           "another rank " + std::to_string(*claimed) + ", " + given);
    } else if (claims.size() > 1) {
      diagnostics[i].Count(Diag::kUnnamedRank, Diagnostics::kNoByte, given);
    }
  }
  return ranks;
}

}  // namespace borescope
