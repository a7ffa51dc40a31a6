// A rank of a simulated run as PyTorch's profiler writes it.
#pragma once

#include <string>

#include "tests/support/simulation/run.h"

namespace borescope::simulation {

// The Kineto file of the rank, its times on the clocks of the rank.
std::string KinetoText(const SimulatedRun& run, int32_t rank);

// What the clock of the rank's host shows at this time, and what its device's.
int64_t HostTime(const RankClock& clock, int64_t ns);
int64_t DeviceTime(const RankClock& clock, int64_t ns);

// What is added to all times, so that none is negative whatever the clocks show.
inline constexpr int64_t kTraceBaseNs = 1'000'000'000'000;

}  // namespace borescope::simulation
