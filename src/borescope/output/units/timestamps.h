// Timestamps as people read them. Tables hold them on the clock of their file, which began when the
// machine did, or in 1970: text shows them since the begin of the recording, with a sign, as
// --begin and --end take them.
#pragma once

#include <cstdint>
#include <span>

#include "borescope/table/table.h"

namespace borescope::internal {

// Where the recording of a rank begins, on the clock of its file.
struct RankBegin {
  int64_t rank = 0;
  int64_t begin_ns = 0;
};

// The table with timestamps (IsOnClock) counted from the begin of the rank of each row: `begin_ns`
// becomes `begin_offset_ns`. Without them where `elapsed_ns` says the same already. As it is where
// it has no ranks or one that is not among `begins`. Pure.
Table SinceBegin(Table table, std::span<const RankBegin> begins);

}  // namespace borescope::internal
