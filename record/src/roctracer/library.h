// Where HIP, roctracer and rocprofiler-sdk are in this process.
#pragma once

#include "roctracer/abi.h"

namespace borescope::inject::roctracer {

// Whether HIP is loaded.
bool IsHipLoaded();

// Whether rocprofiler-sdk asks its tools, of which we are one, or will do so when HIP begins.
bool WillRocprofilerAsk();

// The library: BORESCOPE_ROCTRACER, else the one that is loaded, else the one beside HIP, else that
// of ROCM_PATH or the system.
enum class Found { kYes, kNoLibrary, kNoFunctions, kOtherVersion };
Found FindRoctracer(Roctracer* roctracer);

}  // namespace borescope::inject::roctracer
