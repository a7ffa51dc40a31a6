// Results of the library in functions that pass errors on.
#pragma once

#include <string>
#include <utility>

#include "borescope/error.h"

namespace borescope::cli {

// What was typed asks for something impossible. Options appear as they are typed: --top.
inline Error UsageError(std::string message) {
  return {.code = ErrorCode::kInvalidArgument, .message = std::move(message)};
}

}  // namespace borescope::cli

#define CLI_CONCAT_INNER(a, b) a##b
#define CLI_CONCAT(a, b) CLI_CONCAT_INNER(a, b)

// Returns the error of `expr` (a Result) to the caller, if there is one.
#define CLI_TRY(expr)                                 \
  do {                                                \
    if (auto cli_result = (expr); !cli_result.ok()) { \
      return cli_result.error();                      \
    }                                                 \
  } while (false)

// Declares or assigns `lhs` from the value of `expr` (a Result), or returns its error.
#define CLI_ASSIGN(lhs, expr)                         \
  auto CLI_CONCAT(cli_result_, __LINE__) = (expr);    \
  if (!CLI_CONCAT(cli_result_, __LINE__).ok()) {      \
    return CLI_CONCAT(cli_result_, __LINE__).error(); \
  }                                                   \
  lhs = std::move(CLI_CONCAT(cli_result_, __LINE__)).value()
