#include "borescope/engine/inputs/rank_numbers.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "borescope/base/check.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

void CountConflict(const RankClaim& claim, Diagnostics& diagnostics) {
  if (claim.recorded.has_value() && claim.named.has_value() && *claim.recorded != *claim.named) {
    diagnostics.Count(Diag::kRankConflict, Diagnostics::kNoByte,
                      "recorded rank " + std::to_string(*claim.recorded) + ", file name says " +
                          std::to_string(*claim.named));
  }
}

// Ranks that are not used yet.
class FreeRanks {
 public:
  explicit FreeRanks(std::set<int64_t>& used) : used_(used) {}

  // The number after the largest, and not below `least`; the smallest free one where there is none.
  int64_t Next(int64_t least) {
    if (used_.empty() || *used_.rbegin() < least) {
      return least;
    }
    if (*used_.rbegin() < std::numeric_limits<int64_t>::max()) {
      return *used_.rbegin() + 1;
    }
    while (used_.contains(smallest_)) {
      ++smallest_;
    }
    return smallest_;
  }

 private:
  std::set<int64_t>& used_;
  int64_t smallest_ = 0;  // none below is free: used ones stay used
};

}  // namespace

std::string RangeText(int64_t first, int64_t last) {
  return std::to_string(first) + (first == last ? "" : ".." + std::to_string(last));
}

std::optional<int64_t> RankFromFileName(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (size_t at = name.find("rank"); at != std::string_view::npos;
       at = name.find("rank", at + 1)) {
    size_t digit = at + 4;
    digit += digit < name.size() && (name[digit] == '-' || name[digit] == '_') ? 1 : 0;
    std::optional<int64_t> rank;
    for (; digit < name.size() && IsDigit(name[digit]); ++digit) {
      rank = std::min<int64_t>(rank.value_or(0) * 10 + (name[digit] - '0'), 1 << 30);
    }
    if (rank.has_value()) {
      return rank;
    }
  }
  return std::nullopt;
}

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
  FreeRanks free(used);
  for (const size_t i : without) {
    const std::optional<int64_t> claimed = claims[i].best();
    const int64_t job = claimed.has_value() ? claims[i].world_size.value_or(0) : 0;
    ranks[i] = free.Next(std::max<int64_t>(0, job));
    used.insert(ranks[i]);
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

MissingRanks FindMissingRanks(std::span<const int64_t> loaded, std::optional<int64_t> world_size) {
  constexpr int kMostRanges = 8;  // named; the rest is counted
  const std::set<int64_t> ranks(loaded.begin(), loaded.end());
  if (ranks.empty() || *ranks.begin() < 0) {
    return {};
  }
  const bool known = world_size.has_value() && *world_size > *ranks.rbegin();
  int64_t next = known ? 0 : *ranks.begin();  // the first not yet looked at
  int ranges = 0;
  MissingRanks missing;
  const auto skip_to = [&](int64_t rank) {
    if (next < rank) {
      missing.count += static_cast<uint64_t>(rank - next);
      if (ranges++ < kMostRanges) {
        missing.text += (ranges == 1 ? "" : ", ") + RangeText(next, rank - 1);
      }
    }
  };
  for (const int64_t rank : ranks) {
    skip_to(rank);
    next = rank == std::numeric_limits<int64_t>::max() ? rank : rank + 1;
  }
  skip_to(known ? *world_size : next);
  if (missing.count > 0) {
    const uint64_t all = missing.count + ranks.size();
    missing.text = std::to_string(ranks.size()) + " of " + std::to_string(all) +
                   " ranks loaded; without " + missing.text + (ranges > kMostRanges ? ", ..." : "");
  }
  return missing;
}

}  // namespace borescope::internal
