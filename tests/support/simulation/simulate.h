// Simulated runs: entry point for tests. Equal configs and plans give equal runs; the twin of a run
// is that of the same config with a plan. Shares no code with the product.
//
//   SimulationConfig  what to simulate                           config.h
//   Program           what the job does, without times           program.h (shapes.h: the kinds)
//   Plan              what is different in the twin              plan.h
//   Costs             how long everything takes                  costs.h
//   Machine           what happens when                          machine.h
//   SimulatedRun      what happened                              run.h
//   KinetoText        how a profiler would have written it       kineto.h
#pragma once

#include "tests/support/simulation/config.h"
#include "tests/support/simulation/plan.h"
#include "tests/support/simulation/program.h"
#include "tests/support/simulation/run.h"

namespace borescope::simulation {

// The run of a program of the kind and size that the config asks for.
SimulatedRun Simulate(const SimulationConfig& config, const Plan& plan = {});

// The run of any program.
SimulatedRun SimulateProgram(const SimulationConfig& config, const Program& program,
                             const Plan& plan = {});

}  // namespace borescope::simulation
