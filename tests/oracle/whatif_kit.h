// Simulated runs as the product reads them, and its predictions beside their twins.
#pragma once

#include <optional>
#include <string>

#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/index/trace_index.h"
#include "tests/support/simulation/simulate.h"

namespace borescope::internal::testkit {

struct LoadedRun {
  Trace trace;
  TraceIndex index;

  RankView View() const { return {0, trace, index}; }
};

// Rank 0 of the run.
LoadedRun Loaded(const simulation::SimulatedRun& run);

struct Prediction {
  ReplayVerdict verdict = ReplayVerdict::kRefused;
  // (predicted - twin) / length of the recording; missing where nothing recorded is what the plan
  // names, or no answer is given.
  std::optional<double> error;
  bool is_inside = false;
};

// The change of a plan, predicted from the run as it was recorded, and as `honest` would have it.
// They are the same run, but for how it was written.
Prediction Predict(const simulation::SimulationConfig& recorded,
                   const simulation::SimulationConfig& honest, const std::string& plan);

}  // namespace borescope::internal::testkit
