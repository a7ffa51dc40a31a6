// Which rank each file of a run is. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"

namespace borescope::internal {

// What speaks for a file's rank.
struct RankClaim {
  std::optional<int64_t> recorded;  // distributedInfo in the file
  std::optional<int64_t> named;     // in the file name
  // Number of ranks of the job, as recorded; claims no rank.
  std::optional<int64_t> world_size = std::nullopt;

  std::optional<int64_t> best() const { return recorded.has_value() ? recorded : named; }
};

// "3", or "3..7".
std::string RangeText(int64_t first, int64_t last);

// The rank a file name speaks of ("rank-3.…", "rank_3", "rank3"), if it does.
std::optional<int64_t> RankFromFileName(std::string_view path);

// One distinct rank for every file, in the order of the files. The recorded rank counts before the
// one in the name; of two files with one rank the first keeps it. A file that is left without gets
// the number after the largest, or after the last rank of the job when its own is taken, so that it
// is not mistaken for a rank that is missing. Every such
// decision is counted in the file's own `diagnostics` (same length); a single file without a rank
// is rank 0 and nothing to mention.
std::vector<int64_t> AssignRanks(std::span<const RankClaim> claims,
                                 std::span<Diagnostics> diagnostics);

// Ranks of a job that are not among those loaded.
struct MissingRanks {
  uint64_t count = 0;
  std::string text;  // "6 of 8 ranks loaded; without 3, 5"
};

// Expected are the ranks 0 to world_size - 1; where that is not known (or less than what is there)
// the gaps between the loaded ones count. `loaded` are the ranks as claimed, distinct, in any
// order.
MissingRanks FindMissingRanks(std::span<const int64_t> loaded, std::optional<int64_t> world_size);

}  // namespace borescope::internal
