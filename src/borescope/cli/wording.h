// Errors of the library as a command line words them.
#pragma once

#include <string>

#include "borescope/error.h"

namespace borescope::cli {

// One line: file, place, cause and remedy. Parameters, which the library writes as `kernel_wait`,
// are the options that were typed: --kernel-wait.
std::string Worded(const Error& error);
// The same of a text that names parameters.
std::string WithOptions(std::string_view text);

}  // namespace borescope::cli
