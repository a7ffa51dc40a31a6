// Programs of a few instructions, whose times can be computed by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "tests/support/simulation/author.h"
#include "tests/support/simulation/simulate.h"

namespace borescope::simulation {

// One main thread ("author" writes for it) and one stream; constants are those of config.h.
struct Toy {
  Toy() {
    author.AddThread("main");
    author.AddStream(7, "compute");
  }

  void Kernel(int64_t ns, std::string_view name = "kernel", int64_t call_ns = 4'000) {
    author.Launch("cudaLaunchKernel", call_ns, {.name = name, .ns = ns});
  }

  SimulatedRun Run(const Plan& plan = {}) {
    SimulatedRun run = SimulateProgram(config, program, plan);
    EXPECT_EQ(run.error, "");
    return run;
  }

  SimulationConfig config;
  Program program;
  Author author{&program};
};

}  // namespace borescope::simulation
