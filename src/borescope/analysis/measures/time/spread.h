// How far the ranks of a run lie apart.
#pragma once

#include "borescope/table/table.h"

namespace borescope::internal {

// Table breakdown_spread: a row for each part of the breakdown, over its rows of all ranks and
// GPUs that did device work. No rows when fewer than two ranks did. REQUIRES: a breakdown without
// further keys.
Table BreakdownSpread(const Table& breakdown);

}  // namespace borescope::internal
