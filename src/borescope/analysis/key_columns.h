// The columns that say whose time a row tells of: the same name, order and words in every table.
#pragma once

#include "borescope/table/table.h"

namespace borescope {

// `rank`, as the trace names it.
Column& AddRankKey(Table& table);

// `gpu`, of tables that have rows for devices only.
Column& AddGpuKey(Table& table);

// `gpu`, of tables in which a rank without device work has a row as well.
Column& AddGpuKeyOrNone(Table& table);

// `stream`, the queue of a device.
Column& AddStreamKey(Table& table);

// `step`, of tables that have rows for steps only.
Column& AddStepKey(Table& table);

// `step`, of tables in which what is in no step has a row as well.
Column& AddStepKeyOrNone(Table& table);

}  // namespace borescope
