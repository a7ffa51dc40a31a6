// The reduces that analyses share: concatenation, and merging by key columns.
#pragma once

#include <span>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Rows of all ranks table by table, ordered by the key column `rank` where there is one; the rows
// of one rank stay in their order. Each rank comes in one piece.
Result<Tables> ConcatTables(std::span<const Tables> tables, const Params& params);
// The same of one rank, or of several that were reduced already, without a copy.
Tables ConcatOne(Tables tables);
// As ConcatTables, then rows with equal keys become one.
Result<Tables> MergeTables(std::span<const Tables> tables, const Params& params);
// Tables whose first column is `rank` as by ConcatTables, all others as by MergeTables.
Result<Tables> ReduceByRank(std::span<const Tables> tables, const Params& params);

}  // namespace borescope::internal
