// Values that have a unit of their own in each row, as people read them: "19.0 %" in place of 0.19
// beside "share".
#pragma once

#include "borescope/table/table.h"

namespace borescope {

// The table with the fractions of its column `value` and the texts behind them in its column `unit`
// (share, ratio, count; others stay as they are) as one column of texts. As it is without these
// two. Pure.
Table WithRowUnits(Table table);

}  // namespace borescope
