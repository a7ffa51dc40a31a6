// Values that have a unit of their own in each row, as people read them: "19.0 %" in place of 0.19
// beside "share".
#pragma once

#include "borescope/table/table.h"

namespace borescope::internal {

// The table with the fractions of its columns of Unit::kOfRow as texts, each in the unit that its
// column `unit` names (share, ratio, count, ns, bytes; others follow the number as they are), and
// without that column. Other tables stay as they are, and so do those that compare two runs.
// Pure.
Table WithRowUnits(Table table);

}  // namespace borescope::internal
