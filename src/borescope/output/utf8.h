// UTF-8 text as a terminal shows it: valid, of printable characters, and so many cells wide.
// Names in traces come from compilers and users and may hold any bytes. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/text/text.h"

namespace borescope::internal {

// Whether a terminal would obey a character, or hide it, or reorder those around it.
bool IsUnprintable(char32_t value);

// `text` made safe to show: valid UTF-8, blanks for tabs and line ends, U+FFFD for other controls
// (an escape sequence in a kernel name), for what hides or reorders text, or is no character, and
// for the first character of what a build server would obey ("::error ", "##vso[").
std::string ToPrintable(std::string_view text);
// The same of each line, whose ends stay.
std::string ToPrintableLines(std::string_view lines);

// What a build server would obey in the log of a step: "##vso[", "##[" and "##teamcity[" anywhere,
// "::error " and similar words where a line begins, all in capitals or not. Both look at the begin
// of `text`.
bool IsCommandAnywhere(std::string_view text);
bool IsLineCommand(std::string_view text);

// Terminal cells taken by printable text: East Asian wide characters take two, combining marks
// none.
size_t DisplayWidth(std::string_view text);

// Cells of one character of printable text.
double CellsOfGlyph(char32_t glyph);

// At most `width` cells of printable text: what is too long loses its middle to "…", and whole
// words where that leaves half of what fits.
std::string ShortenMiddle(std::string_view text, size_t width);

// A C++ signature without its parameters and a leading "void", which distinguish kernels least; any
// other name as it is.
std::string_view BareName(std::string_view name);

// Printable text broken at blanks into lines of at most `width` cells; a longer word is cut, after
// "::", "_" or another separator in the second half of a line. At least one line; all but the first
// leave `hang` cells free, for an indent. REQUIRES: width > hang.
std::vector<std::string> WrapText(std::string_view text, size_t width, size_t hang = 0);

}  // namespace borescope::internal
