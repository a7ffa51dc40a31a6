// Finds training steps: ProfilerStep#N annotations and what belongs to them.
#pragma once

#include <optional>
#include <string_view>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// The pieces of windows that may overlap, as in Steps; `step` is an index into `steps`.
// REQUIRES: sorted by begin_ns. O(steps).
std::vector<Steps::Piece> CutSteps(const std::vector<Step>& steps);

Steps BuildSteps(const Trace& trace, const Correlation& correlation);

// Counts the processes that have steps, where there are several: a window holds work and time of
// all of them, whosever step it is (kSharedSteps).
void CountSharedSteps(const Trace& trace, const Steps& steps, Diagnostics& diagnostics);

// N of "ProfilerStep#N", if `name` is one.
std::optional<int64_t> StepNumber(std::string_view name);

// What stands for the names of all steps where runs or calls are told apart by name.
inline constexpr std::string_view kAnyStep = "ProfilerStep#*";

// kAnyStep for the name of a step, any other name as it is.
std::string_view FoldStepName(std::string_view name);

}  // namespace borescope::internal
