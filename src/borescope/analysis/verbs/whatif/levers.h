// What could be made faster: the candidates among which whatif looks for what would help most.
// Internal to whatif/.
#pragma once

#include <vector>

#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_model.h"

namespace borescope::internal {

// Each takes half its time: the kernels with most time by name, all classes, phases, collectives,
// copies, launch calls, data loading, and the host's events with most time of their own. Of kernels
// whose percentages of peaks were measured, those with most time beyond the peak run at it. With
// `most` above 0 those of them with most time on the path of the replay, in the same order: what is
// not on that path can hardly make it shorter.
std::vector<Scenario> LeverScenarios(const RankView& view, const ReplayModel& model,
                                     const RankCounters& counters, size_t most = 0);

inline constexpr double kLeverFactor = 0.5;
inline constexpr size_t kLevers = 10;  // that are shown

}  // namespace borescope::internal
