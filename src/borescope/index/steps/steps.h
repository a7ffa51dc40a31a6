// Finds steps and the events that belong to them. Steps are ProfilerStep#N annotations; in a
// recording without any, the annotations with which vLLM (execute_...) and SGLang (step[...]) mark
// what they run; or those whose names match a pattern of the user's.
#pragma once

#include <optional>
#include <string_view>

#include "borescope/index/steps/step_pattern.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

// nullptr: the steps of training, else those of an inference server. With a pattern its matches
// alone; inside another match an annotation is not a step.
Steps BuildSteps(const Trace& trace, const Correlation& correlation,
                 const StepPattern* pattern = nullptr);

// The steps of --step-pattern. kMissingData, naming the file, if no annotation has such a name.
Result<Steps> MatchSteps(const Trace& trace, const Correlation& correlation,
                         std::string_view pattern);

// Whether vLLM or SGLang marks what it runs at a time by annotations of such names.
bool IsServerStep(std::string_view name);

// N of "ProfilerStep#N", if `name` is one.
std::optional<int64_t> StepNumber(std::string_view name);

// Replaces the names of all steps where runs or calls are distinguished by name.
inline constexpr std::string_view kAnyStep = "ProfilerStep#*";

// kAnyStep for the name of a step, any other name unchanged.
std::string_view FoldStepName(std::string_view name);

}  // namespace borescope::internal
