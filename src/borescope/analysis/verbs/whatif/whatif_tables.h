// The tables of whatif. Internal to whatif/.
#pragma once

#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/replay/answer.h"
#include "borescope/analysis/measures/replay/replay_model.h"

namespace borescope::internal {

// How well the replay represents the recording: a row for all of it, then one for each step.
Table ReplayQualityTable(const RankView& view, const ReplayModel& model);
// A scenario with its run.
struct AskedScenario {
  Scenario scenario;
  ScenarioRun run;
  std::string absent = {};  // why there is none: nothing recorded is what it names
};

// What was asked about, or, in `ranking`, what would help most.
Table WhatIfAnswers(const RankView& view, const ReplayModel& model,
                    const std::vector<AskedScenario>& asked);
Table RankingTable(const RankView& view, const ReplayModel& model,
                   const std::vector<AskedScenario>& levers);
Table SweepTable(const RankView& view, const ReplayModel& model,
                 const std::vector<AskedScenario>& sweep);

// The lags that the replay uses.
Table ReplayConstantsTable(const RankView& view, const ReplayModel& model);

}  // namespace borescope::internal
