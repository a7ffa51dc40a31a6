// Finds training steps: ProfilerStep#N annotations and what belongs to them.
#pragma once

#include <optional>
#include <string_view>

#include "borescope/index/trace_index.h"

namespace borescope {

Steps BuildSteps(const Trace& trace, const Correlation& correlation);

// N of "ProfilerStep#N", if `name` is one.
std::optional<int64_t> StepNumber(std::string_view name);

}  // namespace borescope
