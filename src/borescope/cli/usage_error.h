// Errors of the command line itself, and macros that pass errors of the library on.
#pragma once

#include <string>
#include <utility>

#include "borescope/try.h"

namespace borescope::cli {

// What was typed asks for something impossible. Options appear as they are typed: --top.
inline Error UsageError(std::string message) {
  return {.code = ErrorCode::kInvalidArgument, .cause = std::move(message)};
}

}  // namespace borescope::cli
