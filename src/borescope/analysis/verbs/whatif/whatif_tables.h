// The tables of whatif. Internal to whatif/.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/replay/replay_model.h"

namespace borescope::internal {

// How well the replay stands for the recording: a row for all of it, then one for each step.
Table ReplayQualityTable(const RankView& view, const ReplayModel& model);
// The lags that the replay goes by.
Table ReplayConstantsTable(const RankView& view, const ReplayModel& model);

}  // namespace borescope::internal
