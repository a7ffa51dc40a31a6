// A recording of one rank with an event of each kind: so that answers have every table and column
// that they can have.
#pragma once

#include <cstdint>
#include <string>

namespace borescope::internal {

// As a trace of PyTorch's profiler. Those of two ranks are of one job.
std::string SpecimenText(int64_t rank);

}  // namespace borescope::internal
