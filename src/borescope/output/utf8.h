// UTF-8 text as a terminal shows it: valid, of printable characters, and so many cells wide.
// Names in traces come from compilers and users and may hold any bytes. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/utf8.h"

namespace borescope {

// `text` made safe to show: valid UTF-8, blanks for tabs and line ends, U+FFFD for other controls
// (an escape sequence in a kernel name) and for what hides or reorders text, or is no character.
std::string ToPrintable(std::string_view text);

// Terminal cells taken by printable text: East Asian wide characters take two, combining marks
// none.
size_t DisplayWidth(std::string_view text);

// At most `width` cells of printable text: what is too long loses its middle to "…".
std::string ShortenMiddle(std::string_view text, size_t width);

// A name of at most `width` cells: a C++ signature that is too long first loses its parameters and
// a leading "void", which tell kernels apart least, then its middle.
std::string ShortenName(std::string_view name, size_t width);

// Printable text broken at blanks into lines of at most `width` cells; a longer word is cut. At
// least one line. REQUIRES: width > 0.
std::vector<std::string> WrapText(std::string_view text, size_t width);

}  // namespace borescope
