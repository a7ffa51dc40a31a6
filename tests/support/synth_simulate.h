// The part of borescope-synth that writes simulated runs.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tests/support/simulation/config.h"

namespace borescope::simulation {

struct SimulateOptions {
  bool is_on = false;
  SimulationConfig config;
  std::string plan;  // file
  std::string stragglers;
  std::string slow_steps;
};

void AddSimulateOptions(CLI::App* app, SimulateOptions* options);

// Writes rank-<N>.json and truth.json into the folder; seed, ranks and steps of the config are
// already set. Returns the exit status.
int WriteSimulated(SimulateOptions* options, const std::string& out);

}  // namespace borescope::simulation
