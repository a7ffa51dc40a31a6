// Calls of HIP, which roctracer reports before and after each on the thread that makes it: they are
// written to the log at once, and a kill loses none.
#pragma once

#include <cstdint>

#include "roctracer/abi.h"

namespace borescope::inject::roctracer {

// Has roctracer report calls or not, as the options say which. Not within a report. The status of
// what failed first.
int SwitchCalls(const Roctracer& library, bool is_on);

}  // namespace borescope::inject::roctracer
