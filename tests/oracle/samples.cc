#include "tests/oracle/samples.h"

namespace borescope::internal::testkit {

// The only source that holds a path of this checkout, so that a compiler cache serves them all.
std::filesystem::path SamplesFolder() { return BORESCOPE_SAMPLES; }

}  // namespace borescope::internal::testkit
