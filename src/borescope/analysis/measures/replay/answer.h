// The answer of a scenario: what the recording would take, with an interval.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/analysis/measures/replay/run_scenario.h"

namespace borescope::internal {

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
