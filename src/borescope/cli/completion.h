// Shell completion scripts, made from the same rows as --help. Pure.
#pragma once

#include <string>
#include <string_view>

#include "borescope/error.h"

namespace borescope::cli {

// kInvalidArgument, naming the shells there are, for any other.
Result<std::string> CompletionScript(std::string_view shell);

}  // namespace borescope::cli
