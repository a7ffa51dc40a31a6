// The tables of whatif. Internal to whatif/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/replay/replay_model.h"
#include "borescope/analysis/measures/replay/run_scenario.h"

namespace borescope::internal {

// How well the replay represents the recording: a row for all of it, then one for each step.
Table ReplayQualityTable(const RankView& view, const ReplayModel& model);
// A scenario with its run.
struct AskedScenario {
  Scenario scenario;
  ScenarioRun run;
  std::string absent = {};  // why there is none: nothing recorded is what it names
};

// What was asked about, the factors of a sweep, or what would help most.
enum class AnswerKind : uint8_t { kAsked, kSweep, kRanking };
// `holds_cost`: the host times of the model hold what recording costs, and that is much.
Table AnswerTable(AnswerKind kind, const RankView& view, const ReplayModel& model, bool holds_cost,
                  const std::vector<AskedScenario>& asked);

// The lags that the replay uses.
Table ReplayConstantsTable(const RankView& view, const ReplayModel& model);

}  // namespace borescope::internal
