// Runs scenarios: the replay of a recording with changes made.
#pragma once

#include <memory>
#include <optional>
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

// The answer of a scenario: what the recording would take, with an interval.

struct ScenarioAnswer {
  int64_t step_ns = 0;  // a step as measured, on average; the recording, where there are no steps
  int64_t new_ns = 0;   // of it in the scenario
  int64_t low_ns = 0;   // the interval, docs/how-it-works/whatif.md
  int64_t high_ns = 0;
  bool is_testable = true;  // whether the recording shows that such changes are replayed rightly

  int64_t saved_ns() const { return step_ns - new_ns; }
};

// nullopt where the replay does not represent the recording.
std::optional<ScenarioAnswer> AnswerScenario(const ReplayModel& model, const Scenario& scenario,
                                             const ScenarioRun& run);

// Lets answers be about the selected steps alone. kMissingData where there are no such steps.
Result<void> AskAboutSteps(const RankView& view, const Selection& selection, ReplayGraph& graph);

// The model of the recording, with the names of data loading that `params` give, asked about the
// steps that they select. Of one question it is made once (SharedMeasures). Errors as
// AskAboutSteps. Any thread. O(rows log rows).
std::shared_ptr<const Result<ReplayModel>> SharedReplayModel(const RankView& view,
                                                             const Params& params);
// As AnalysisSpec::dear.
MeasureId ReplayModelIsDear(const Params& params);

// What limits an answer; empty for nothing.
std::string_view NoteOf(const std::optional<ScenarioAnswer>& answer, const ScenarioRun& run);

}  // namespace borescope::internal
