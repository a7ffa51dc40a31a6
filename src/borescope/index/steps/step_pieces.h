// Windows of steps that may overlap as pieces that do not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

// The pieces of the windows of some steps: at any time the one that begins last. REQUIRES: `some`
// are indices into `steps`, ascending; `steps` is sorted by begin_ns. O(some).
std::vector<Steps::Piece> CutSteps(const std::vector<Step>& steps, std::span<const uint32_t> some);

}  // namespace borescope::internal
