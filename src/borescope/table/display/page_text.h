// How long texts of the timeline in a page are: those who write them and those who reckon what they
// take have to agree.
#pragma once

#include <cstddef>

namespace borescope::internal {

// The longest name or detail, in characters; of longer ones the middle is left out.
inline constexpr size_t kLongestPageText = 120;

}  // namespace borescope::internal
