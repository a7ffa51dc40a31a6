// Bitmaps of Arrow: a bit a cell, the first one lowest. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace borescope::internal {

// A bit for each of `flags`, set where the flag is not 0; where it is 0, if `inverted`. Bits after
// the last cell are 0, up to a whole number of eight bytes.
std::vector<uint8_t> PackBits(std::span<const char> flags, bool inverted);

}  // namespace borescope::internal
