// What of AMD's software is installed here, as far as --rocm needs it.
#pragma once

#include <string>

namespace borescope::internal {

// Why nothing of AMD's devices will be recorded by rocprofiler-sdk, and what to do; empty where it
// is in ROCM_PATH or /opt/rocm. Programs may bring their own: this is a warning, and no error.
std::string WhyNoRocm();

}  // namespace borescope::internal
