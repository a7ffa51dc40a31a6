// How Borescope writes numbers and texts for people, for front ends that say more than an answer
// does. Pure functions, the same in every locale; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/export.h"

namespace borescope {

// "1,234,567"
BORESCOPE_EXPORT std::string GroupDigits(int64_t value);
// "12 kB", "1.20 GB": powers of 1000.
BORESCOPE_EXPORT std::string FormatBytes(uint64_t bytes);
// The text made safe for a terminal: valid UTF-8, blanks for tabs and line ends, U+FFFD for other
// controls and for what hides or reorders text.
BORESCOPE_EXPORT std::string ToPrintable(std::string_view text);
// The same of each line, whose ends stay.
BORESCOPE_EXPORT std::string ToPrintableLines(std::string_view lines);
// The text broken at blanks into lines of at most `width` terminal cells; at least one line.
// REQUIRES: width > 0.
BORESCOPE_EXPORT std::vector<std::string> WrapText(std::string_view text, size_t width);
// "a, b,a" -> a, b: the items of a list, each once, as in the values of parameters.
BORESCOPE_EXPORT std::vector<std::string> SplitList(std::string_view text);
// The candidate that was probably meant by `word`, for "did you mean"; empty if none is near.
BORESCOPE_EXPORT std::string_view Nearest(std::string_view word,
                                          std::span<const std::string_view> candidates);

}  // namespace borescope
