// Predictions of whatif against counterfactual twins: the same run, simulated with the change made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "borescope/analysis/measures/replay/answer.h"
#include "borescope/analysis/measures/replay/plan_file.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "tests/support/simulation/kineto.h"
#include "tests/support/simulation/simulate.h"

namespace borescope::internal {
namespace {

using simulation::ProgramKind;

struct LoadedRun {
  Trace trace;
  TraceIndex index;
};

LoadedRun Loaded(const simulation::SimulatedRun& run) {
  Result<Trace> trace = LoadBytes(simulation::KinetoText(run, 0), "rank0.json", {1, {}});
  EXPECT_TRUE(trace.ok());
  TraceIndex index = BuildIndex(*trace, 1);
  return {std::move(*trace), std::move(index)};
}

constexpr const char* kPlans[] = {
    R"({"changes":[{"scale":"class:gemm=0.5"}]})",   R"({"changes":[{"scale":"class:pointwise=0.5"}]})",
    R"({"changes":[{"scale":"phase:backward=0.5"}]})", R"({"changes":[{"scale":"phase:backward=1.5"}]})",
    R"({"changes":[{"scale":"copy=0.3"}]})",         R"({"changes":[{"scale":"host:aten=0.5"}]})",
    R"({"changes":[{"launch":0.5}]})",               R"({"changes":[{"no-data-wait":true}]})",
    R"({"changes":[{"remove":"class:norm"}]})",      R"({"changes":[{"no-sync":"aten::item"}]})",
    R"({"changes":[{"scale":"kernel:e=0.2"}]})",      R"({"changes":[{"graph":"ProfilerStep"}]})"};

struct Outcome {
  bool answered = false;
  double error = 0;   // share of T
  bool inside = false;
  ReplayVerdict verdict = ReplayVerdict::kRefused;
  double change = 0;
};

Outcome Try(const simulation::SimulationConfig& config, const std::string& plan) {
  Outcome outcome;
  const simulation::ParsedPlan parsed = simulation::ParsePlan(plan);
  EXPECT_TRUE(parsed.error.empty()) << parsed.error;
  const LoadedRun base = Loaded(simulation::Simulate(config));
  const LoadedRun twin = Loaded(simulation::Simulate(config, parsed.plan));
  const RankView view{0, base.trace, base.index};
  const ReplayModel model = MakeReplayModel(view, "");
  const Scenario scenario = ReadPlan(plan)->front();
  const Params params;
  const Result<ScenarioRun> run = ScenarioRunner(view, model, params).Run(scenario);
  outcome.verdict = model.quality.verdict;
  if (!run.ok()) {
    return outcome;
  }
  const std::optional<ScenarioAnswer> answer = AnswerScenario(model, scenario, *run);
  if (!answer) return outcome;
  const ReplayModel twin_model = MakeReplayModel({0, twin.trace, twin.index}, "");
  const auto steps = static_cast<int64_t>(model.graph.stretches.size());
  const int64_t truth = twin_model.quality.measured_ns / steps;
  outcome.answered = true;
  outcome.error = static_cast<double>(answer->new_ns - truth) / static_cast<double>(answer->step_ns);
  outcome.inside = answer->low_ns <= truth && truth <= answer->high_ns;
  outcome.change = static_cast<double>(answer->step_ns - truth) / static_cast<double>(answer->step_ns);
  return outcome;
}

TEST(WhatIfTwins, Explore) {
  const char* jitter = std::getenv("JITTER");
  const int seeds = std::getenv("SEEDS") ? std::atoi(std::getenv("SEEDS")) : 5;
  std::map<std::pair<int, int>, std::vector<Outcome>> by;
  for (int program = 0; program < static_cast<int>(ProgramKind::kCount); ++program) {
    for (size_t plan = 0; plan < std::size(kPlans); ++plan) {
      for (int seed = 0; seed < seeds; ++seed) {
        simulation::SimulationConfig config;
        config.program = static_cast<ProgramKind>(program);
        config.seed = static_cast<uint64_t>(seed) + 1;
        config.jitter = jitter ? std::atof(jitter) : 0;
        const Outcome o = Try(config, kPlans[plan]);
        by[{program, static_cast<int>(plan)}].push_back(o);
      }
    }
  }
  for (auto& [key, os] : by) {
    double worst = 0; int answered = 0, inside = 0, within = 0; double change = 0;
    std::string verdicts;
    for (auto& o : os) { if (o.answered) { ++answered; inside += o.inside; within += std::abs(o.error) <= 0.01; if (std::abs(o.error) > std::abs(worst)) {worst = o.error; change = o.change;} } verdicts += ReplayVerdictName(o.verdict)[0]; }
    std::printf("%-12s %-46s answered %d within1%% %d inside %d worst %7.2f %% (change %6.1f %%) %s\n", std::string(simulation::ProgramKindName(static_cast<ProgramKind>(key.first))).c_str(), kPlans[key.second] + 11, answered, within, inside, 100 * worst, 100 * change, verdicts.c_str());
  }
}

}  // namespace
}  // namespace borescope::internal
