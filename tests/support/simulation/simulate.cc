#include "tests/support/simulation/simulate.h"

#include <algorithm>

#include "tests/support/simulation/machine.h"
#include "tests/support/simulation/shapes.h"

namespace borescope::simulation {
namespace {

const Change* Find(const Plan& plan, ChangeKind kind) {
  const auto found = std::ranges::find(plan, kind, &Change::kind);
  return found == plan.end() ? nullptr : &*found;
}

// What taking a batch takes that was loaded in the background.
constexpr int64_t kTakeNs = 100'000;

// Of each rank, 0 if it loads no data.
std::vector<int64_t> ShortestDataNs(const SimulatedRun& run) {
  std::vector<int64_t> shortest;
  for (const RankRun& rank : run.ranks) {
    int64_t ns = -1;
    for (const FrameRow& frame : rank.frames) {
      const int64_t own_ns = frame.end_ns - frame.begin_ns;
      if (frame.is_data && (ns < 0 || own_ns < ns)) ns = own_ns;
    }
    shortest.push_back(std::max<int64_t>(0, ns));
  }
  return shortest;
}

void SetSpan(RankRun* rank) {
  rank->begin_ns = rank->frames.empty() ? 0 : rank->frames.front().begin_ns;
  rank->end_ns = rank->begin_ns;
  for (const FrameRow& row : rank->frames) {
    rank->begin_ns = std::min(rank->begin_ns, row.begin_ns);
    rank->end_ns = std::max(rank->end_ns, row.end_ns);
  }
  for (const CallRow& row : rank->calls) {
    rank->begin_ns = std::min(rank->begin_ns, row.begin_ns);
    rank->end_ns = std::max(rank->end_ns, row.end_ns);
  }
  for (const WorkRow& row : rank->works) rank->end_ns = std::max(rank->end_ns, row.end_ns);
}

}  // namespace

SimulatedRun SimulateProgram(const SimulationConfig& config, const Program& program,
                             const Plan& plan) {
  SimulatedRun run;
  run.config = config;
  if (Find(plan, ChangeKind::kNoStraggler) != nullptr) run.config.stragglers.clear();
  run.program = program;
  if (const Change* change = Find(plan, ChangeKind::kNoDataWait)) {
    run.program.data_ns = ShortestDataNs(SimulateProgram(config, program));
    for (int64_t& ns : run.program.data_ns) ns = std::min(ns, kTakeNs);
    if (change->is_zero) std::ranges::fill(run.program.data_ns, 0);
  }
  ApplyPlan(plan, config.constants, &run.program);
  Machine(run.config, &run).Run();
  for (RankRun& rank : run.ranks) SetSpan(&rank);
  return run;
}

SimulatedRun Simulate(const SimulationConfig& config, const Plan& plan) {
  return SimulateProgram(config, MakeProgram(MakeShape(config)), plan);
}

}  // namespace borescope::simulation
