// Texts of TOML: what is between quotation marks. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

// Reads the text that begins at `at`, with its quotation mark, and moves `at` after it. Errors say
// the cause alone. REQUIRES: text[at] is " or '.
Result<std::string> ReadTomlText(std::string_view text, size_t& at);

}  // namespace borescope::internal
