// Shell completion scripts, made from the same rows as --help. Pure.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal::cli {

// kInvalidArgument, naming the shells there are, for any other.
Result<std::string> CompletionScript(std::string_view shell);

}  // namespace borescope::internal::cli
