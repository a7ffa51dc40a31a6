// How much of the path of a replay consists of what a scenario changes: about the most that it can
// save. Internal to whatif/.
#pragma once

#include <cstddef>
#include <vector>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_model.h"

namespace borescope::internal {

// The `most` scenarios with most time on the path, in their order; of equal ones the first.
// REQUIRES: each has one change, to the time of a kernel, a class, a phase, collectives, copies,
// host events of a name, launch calls or data loading. `phases` as of HostPhases. O(rows).
std::vector<Scenario> MostOnPath(const RankView& view, const ReplayModel& model,
                                 const std::vector<Phase>& phases, std::vector<Scenario> scenarios,
                                 size_t most);

}  // namespace borescope::internal
