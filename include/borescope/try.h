// For functions that return a Result: macros that pass the error of another Result on.
#pragma once

#include <utility>

#include "borescope/error.h"

#define BS_CONCAT_INNER(a, b) a##b
#define BS_CONCAT(a, b) BS_CONCAT_INNER(a, b)

// Returns the error of `expr` (a Result) to the caller, if there is one.
#define BS_TRY(expr)                                \
  do {                                              \
    if (auto bs_result = (expr); !bs_result.ok()) { \
      return bs_result.error();                     \
    }                                               \
  } while (false)

// Declares or assigns `lhs` from the value of `expr` (a Result), or returns its error.
#define BS_ASSIGN(lhs, expr)                        \
  auto BS_CONCAT(bs_result_, __LINE__) = (expr);    \
  if (!BS_CONCAT(bs_result_, __LINE__).ok()) {      \
    return BS_CONCAT(bs_result_, __LINE__).error(); \
  }                                                 \
  lhs = std::move(BS_CONCAT(bs_result_, __LINE__)).value()
