// Runs scenarios, that is, replays of a recording with changes, and answers how long it would take.
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
  // The same if communication took no time at all: no waiting for other ranks could be shorter.
  // Only where communication is changed, or takes most of the path; else empty.
  std::vector<int64_t> without_comm_ns;
  int64_t works = 0;             // pieces of device work that were changed
  int64_t host_events = 0;       // host events that were changed
  int64_t assumed_ns = 0;        // assumed time of graph launches, which were not recorded
  bool has_collectives = false;  // whether collectives are among them
  bool is_outside = false;       // whether some of them are outside of the measured steps
  // Whether it is unknown if something needs the result that is no longer waited for.
  bool is_unsafe = false;
  std::string_view bound_by;  // what takes most of the path of the replay, as in critical-path
};

// View, model and params must outlive it.
class ScenarioRunner {
 public:
  ScenarioRunner(const RankView& view, const ReplayModel& model, const Params& params);
  ScenarioRunner(const ScenarioRunner&) = delete;
  ScenarioRunner& operator=(const ScenarioRunner&) = delete;
  ~ScenarioRunner();

  // Makes changes in the order remove, scale, roof, structure, independent of their order in the
  // list. kMissingData if nothing recorded matches a change or has a known roof; the message says
  // what is missing, and the caller adds the scenario. O(rows + dependencies).
  Result<ScenarioRun> Run(const Scenario& scenario) const;
  // What takes most of the path of the unchanged replay.
  std::string_view BoundByNow() const;

 private:
  class Recording;

  std::unique_ptr<const Recording> recording_;
};

// The answer of a scenario: how long the recording would take, with an interval.
struct ScenarioAnswer {
  int64_t step_ns = 0;  // an average step as measured; the whole recording if it has no steps
  int64_t new_ns = 0;   // the same in the scenario
  int64_t low_ns = 0;   // the interval; see docs/how-it-works/whatif.md
  int64_t high_ns = 0;
  // new_ns if communication took no time at all; kMissing where the run does not have it.
  int64_t without_comm_ns = kMissing;
  bool is_testable = true;  // whether the recording shows that such changes are replayed correctly

  int64_t saved_ns() const { return step_ns - new_ns; }
};

// nullopt if the replay does not represent the recording.
std::optional<ScenarioAnswer> AnswerScenario(const ReplayModel& model, const Scenario& scenario,
                                             const ScenarioRun& run);

// Restricts answers to the selected steps. kMissingData if there are no such steps.
Result<void> AskAboutSteps(const RankView& view, const Selection& selection, ReplayGraph& graph);

// The model of the recording, with the names of data loading and the selected steps of `params`.
// Made once for each question (SharedMeasures). Errors as AskAboutSteps. Any thread. O(rows log
// rows).
std::shared_ptr<const Result<ReplayModel>> SharedReplayModel(const RankView& view,
                                                             const Params& params);
// As AnalysisSpec::dear.
MeasureId ReplayModelIsDear(const Params& params);

// What limits an answer; empty if nothing does.
std::string_view NoteOf(const std::optional<ScenarioAnswer>& answer, const ScenarioRun& run);

}  // namespace borescope::internal
