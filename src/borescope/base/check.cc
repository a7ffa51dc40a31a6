#include "borescope/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace borescope::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "borescope: internal error: %s is false (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace borescope::internal
