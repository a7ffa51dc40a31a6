// What is known of a simulated run: truth.json.
#pragma once

#include <string>

#include "tests/support/simulation/run.h"

namespace borescope::simulation {

// Times are true ones, from the begin of the simulation. Tables and columns:
// tests/support/README.md.
std::string TruthJson(const SimulatedRun& run);

}  // namespace borescope::simulation
