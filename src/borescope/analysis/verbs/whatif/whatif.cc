// whatif: what the recording would take if something took another time. The recording is run again
// as a graph of dependencies with the change made (measures/replay); how far that can be believed
// is measured first, and an answer that cannot be is not given. docs/whatif.md.
#include <algorithm>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/whatif/levers.h"
#include "borescope/analysis/verbs/whatif/scenarios.h"
#include "borescope/analysis/verbs/whatif/whatif_tables.h"
#include "borescope/base/parallel.h"

namespace borescope::internal {
namespace {

Result<std::vector<AskedScenario>> RunAll(const ScenarioRunner& runner,
                                          const std::vector<Scenario>& scenarios, int threads) {
  std::vector<Result<ScenarioRun>> runs(scenarios.size(), Result<ScenarioRun>(ScenarioRun()));
  ParallelFor(scenarios.size(), threads, [&](size_t i) { runs[i] = runner.Run(scenarios[i]); });
  std::vector<AskedScenario> asked;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    BS_ASSIGN(ScenarioRun run, std::move(runs[i]));
    asked.push_back({scenarios[i], std::move(run)});
  }
  return asked;
}

int64_t LengthOf(const ScenarioRun& run) {
  int64_t ns = 0;
  for (const int64_t stretch : run.stretch_ns) {
    ns += stretch;
  }
  return ns;
}

// The largest savings; of equal ones the first.
void KeepBest(std::vector<AskedScenario>& levers) {
  std::stable_sort(levers.begin(), levers.end(),
                   [](const auto& a, const auto& b) { return LengthOf(a.run) < LengthOf(b.run); });
  if (levers.size() > kLevers) {
    levers.erase(levers.begin() + kLevers, levers.end());
  }
}

Result<void> CheckWhatIf(const Params& params) {
  BS_TRY(AskedScenarios(params));
  BS_TRY(SweepScenarios(params));
  return {};
}

Result<Tables> MapWhatIf(const RankView& view, const Params& params) {
  BS_ASSIGN(const std::vector<Scenario> scenarios, AskedScenarios(params));
  BS_ASSIGN(const std::vector<Scenario> sweep, SweepScenarios(params));
  const ReplayModel model = MakeReplayModel(view, params.Text(kDataLoadParam));
  const ScenarioRunner runner(view, model, params);
  Tables tables;
  tables.push_back(ReplayQualityTable(view, model));
  BS_ASSIGN(std::vector<AskedScenario> asked, RunAll(runner, scenarios, view.threads));
  tables.push_back(WhatIfAnswers(view, model, asked));
  BS_ASSIGN(asked, RunAll(runner, sweep, view.threads));
  tables.push_back(SweepTable(view, model, asked));
  asked.clear();
  if (scenarios.empty()) {
    BS_ASSIGN(asked, RunAll(runner, LeverScenarios(view, model), view.threads));
    KeepBest(asked);
  }
  tables.push_back(RankingTable(view, model, asked));
  tables.push_back(ReplayConstantsTable(view, model));
  return tables;
}

constexpr const ParamSpec* kWhatIfParams[] = {
    &kScaleParam,       &kRemoveParam,      &kRoofParam,      &kNoDataWaitParam, &kNoSyncParam,
    &kOverlapCommParam, &kGraphRegionParam, &kLaunchParam,    &kPlanParam,       &kSweepParam,
    &kDataLoadParam,    &kCausalParam,      &kSfuWeightParam, &kDeviceParam,     &kDeviceSpecParam};

}  // namespace

const AnalysisSpec kWhatIfVerb{
    .name = "whatif",
    .summary = "how long it would take if something were faster, and how sure that is",
    .example = "borescope whatif trace.json.gz --scale class:gemm=0.5",
    .needs = Needs::kEvents,
    .params = kWhatIfParams,
    .takes_selection = false,
    .answer = {.map = MapWhatIf, .reduce = ConcatTables},
    .check = CheckWhatIf,
    .memory = 1.5,
    .in_report = false};

}  // namespace borescope::internal
