#include "tests/oracle/whatif_kit.h"

#include <gtest/gtest.h>

#include <utility>

#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/ingest/load.h"
#include "tests/support/simulation/kineto.h"

namespace borescope::internal::testkit {

LoadedRun Loaded(const simulation::SimulatedRun& run) {
  EXPECT_EQ(run.error, "");
  Result<Trace> trace = LoadBytes(simulation::KinetoText(run, 0), "rank0.json", {1, {}});
  EXPECT_TRUE(trace.ok());
  TraceIndex index = BuildIndex(*trace, 1);
  return {std::move(*trace), std::move(index)};
}

Prediction Predict(const simulation::SimulationConfig& recorded,
                   const simulation::SimulationConfig& honest, const std::string& plan) {
  const simulation::ParsedPlan parsed = simulation::ParsePlan(plan);
  EXPECT_EQ(parsed.error, "");
  const LoadedRun base = Loaded(simulation::Simulate(recorded));
  const RankView view = base.View();
  const ReplayModel model = MakeReplayModel(view, "");
  EXPECT_EQ(model.quality.exact_ns, 0);
  Prediction prediction{model.quality.verdict, {}, false};
  const Scenario scenario = ReadPlan(plan)->front();
  const Params params;
  const Result<ScenarioRun> run = ScenarioRunner(view, model, params).Run(scenario);
  const std::optional<ScenarioAnswer> answer =
      run.ok() ? AnswerScenario(model, scenario, *run) : std::nullopt;
  if (!answer) {
    return prediction;
  }
  const LoadedRun twin = Loaded(simulation::Simulate(honest, parsed.plan));
  const ReplayGraph graph = BuildReplayGraph(twin.View(), "");
  const int64_t truth_ns =
      TotalTime(graph, MeasuredTimes(graph)) / static_cast<int64_t>(graph.stretches.size());
  prediction.error =
      static_cast<double>(answer->new_ns - truth_ns) / static_cast<double>(answer->step_ns);
  prediction.is_inside = answer->low_ns <= truth_ns && truth_ns <= answer->high_ns;
  return prediction;
}

}  // namespace borescope::internal::testkit
