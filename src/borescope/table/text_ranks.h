// Ranks of texts: numbers that compare as the texts do. Sorting a million rows by them reads each
// text a few times, not at every comparison.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/table/string_values.h"

namespace borescope::internal {

// By row: equal texts have one rank, smaller texts (byte by byte) a smaller one.
std::vector<uint32_t> TextRanks(const StringValues& cells);

}  // namespace borescope::internal
