// Words of a POSIX shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace borescope::cli {

// The text in single quotes, in which no shell takes anything specially.
std::string SingleQuoted(std::string_view text);

// The text as one word that any shell takes literally: as it is where nothing in it is special,
// else in single quotes. A line end stays one: callers refuse it.
std::string ShellWord(std::string_view text);

}  // namespace borescope::cli
