// Runs scenarios: the replay of a recording with changes made.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_model.h"

namespace borescope::internal {

struct ScenarioRun {
  std::vector<int64_t> stretch_ns;  // per stretch of the graph
  int64_t works = 0;                // pieces of device work that were changed
  int64_t host_events = 0;          // of the host: events, calls
  int64_t assumed_ns = 0;           // of the launches of graphs, which were not recorded
  bool has_collectives = false;     // among them
  bool is_outside = false;          // some of them are in no step that is measured
  // Nothing recorded says whether something needs what is no longer waited for.
  bool is_unsafe = false;
  std::string_view
      bound_by;  // what most of the path of the replay consists of, as in critical-path
};

// The view, the model and the params must outlive it.
class ScenarioRunner {
 public:
  ScenarioRunner(const RankView& view, const ReplayModel& model, const Params& params);
  ScenarioRunner(const ScenarioRunner&) = delete;
  ScenarioRunner& operator=(const ScenarioRunner&) = delete;
  ~ScenarioRunner();

  // Changes are made in the order remove, scale, roof, structure, in whatever order they are
  // listed. kMissingData where nothing recorded is what a change names, or has a known roof; its
  // message is what is missing, and leaves it to the caller to name the scenario.
  // O(rows + dependencies).
  Result<ScenarioRun> Run(const Scenario& scenario) const;
  // With how much time the path of the unchanged replay has of what.
  std::string_view BoundByNow() const;

 private:
  class Recording;

  std::unique_ptr<const Recording> recording_;
};

}  // namespace borescope::internal
