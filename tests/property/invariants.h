// What holds for every finished trace and its indexes, whatever the input was.
#pragma once

#include <string>

#include "borescope/index/trace_index.h"

namespace borescope::internal::testkit {

// Empty, or the first thing that is wrong.
std::string WhatIsWrongWith(const Trace& trace);
std::string WhatIsWrongWith(const Trace& trace, const TraceIndex& index);

}  // namespace borescope::internal::testkit
