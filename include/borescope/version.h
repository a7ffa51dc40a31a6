// The version of the library.
#pragma once

#include <string_view>

#include "borescope/export.h"

namespace borescope {

// "0.1.0", as `borescope --version` prints it. Lives as long as the program. Thread-safe.
BORESCOPE_EXPORT std::string_view Version();

}  // namespace borescope
