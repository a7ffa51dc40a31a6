// How far the ranks of a run lie apart.
#pragma once

#include "borescope/table/table.h"

namespace borescope {

// Table breakdown_spread: a row for each part of the breakdown, over its rows of all ranks and
// GPUs. No rows for a single rank. REQUIRES: a breakdown without further keys.
Table BreakdownSpread(const Table& breakdown);

}  // namespace borescope
