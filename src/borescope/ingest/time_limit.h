// The largest absolute value of a time.
#pragma once

#include <cstdint>

namespace borescope::internal {

// Readers clamp times beyond this (73 years) and count them, so that no difference or sum of two
// can overflow.
inline constexpr int64_t kTimeLimitNs = int64_t{1} << 61;

}  // namespace borescope::internal
