// What the tests of --compat hta share.
#pragma once

#include <cstdint>

#include "borescope/analysis/core/params.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {

inline Params Hta() {
  Params params;
  params.compat = Compat::kHta;
  return params;
}

inline Span Us(int64_t ts_us, int64_t dur_us) { return {ts_us * 1000, dur_us * 1000}; }

}  // namespace borescope::internal
