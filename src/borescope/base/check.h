// BS_CHECK stops the program when one of OUR assumptions is false. It is never used on input: odd
// input is an Error or a Diagnostic.
#pragma once

namespace borescope::internal {

// Prints the failed condition to standard error and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace borescope::internal

#define BS_CHECK(condition)                                               \
  do {                                                                    \
    if (!(condition)) [[unlikely]] {                                      \
      ::borescope::internal::CheckFailed(#condition, __FILE__, __LINE__); \
    }                                                                     \
  } while (false)

#ifdef NDEBUG
#define BS_DCHECK(condition) \
  do {                       \
  } while (false && (condition))
#else
#define BS_DCHECK(condition) BS_CHECK(condition)
#endif
