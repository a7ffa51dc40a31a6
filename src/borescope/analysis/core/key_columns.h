// The columns that say which rank, step, device and stream a row is about. They have the same
// names, and their descriptions begin with the same words, in every table. Their order is rank,
// step, gpu, stream; only `steps`, which programs may read by position, has gpu before step.
#pragma once

#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

// The descriptions, for tables that list their columns. With --by the one of step differs, as there
// it is the step of a launch or a call.
inline constexpr std::string_view kRankDoc = "Rank of the process in the job.";
inline constexpr std::string_view kStepDoc = "Number of the step.";
inline constexpr std::string_view kStepOrNoneDoc =
    "Number of the step; missing for what is in no step.";
inline constexpr std::string_view kGpuDoc = "Device number as recorded.";
inline constexpr std::string_view kGpuOrNoneDoc =
    "Device number as recorded; missing when the rank has no device work.";
inline constexpr std::string_view kStreamDoc = "Stream (queue) of the device.";

// `rank`, as the trace names it.
Column& AddRankKey(Table& table);

// `gpu`, of tables that have rows for devices only.
Column& AddGpuKey(Table& table);

// `gpu`, of tables in which a rank without device work has a row as well.
Column& AddGpuKeyOrNone(Table& table);

// `stream`, the queue of a device.
Column& AddStreamKey(Table& table);

// `step`, of tables in which what is in no step has a row as well.
Column& AddStepKeyOrNone(Table& table);

}  // namespace borescope::internal
