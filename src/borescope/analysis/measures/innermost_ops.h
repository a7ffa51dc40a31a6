// Host and device time per operator; see ops.cc for the definitions.
#pragma once

#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// The name under which device work without an operator is listed.
inline constexpr std::string_view kNoOperator = "(no operator)";

}  // namespace borescope::internal
