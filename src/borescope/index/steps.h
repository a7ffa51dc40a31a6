// Finds training steps: ProfilerStep#N annotations and the events that belong to them.
#pragma once

#include <optional>
#include <string_view>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// The pieces of windows that may overlap, as in Steps; `step` is an index into `steps`.
// REQUIRES: sorted by begin_ns. O(steps).
std::vector<Steps::Piece> CutSteps(const std::vector<Step>& steps);

Steps BuildSteps(const Trace& trace, const Correlation& correlation);

// Counts the processes with steps, if there are several: a window includes work and time of all of
// them, whichever process has the step (kSharedSteps).
void CountSharedSteps(const Trace& trace, const Steps& steps, Diagnostics& diagnostics);

// N of "ProfilerStep#N", if `name` is one.
std::optional<int64_t> StepNumber(std::string_view name);

// Replaces the names of all steps where runs or calls are distinguished by name.
inline constexpr std::string_view kAnyStep = "ProfilerStep#*";

// kAnyStep for the name of a step, any other name unchanged.
std::string_view FoldStepName(std::string_view name);

}  // namespace borescope::internal
