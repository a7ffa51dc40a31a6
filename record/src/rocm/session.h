// rocprofiler-sdk's collection: set up when rocprofiler asks for tools, switched on and off with
// the recording. Experimental: never tried on an AMD device.
#pragma once

#include "rocm/abi.h"

namespace borescope::inject::rocm {

// What rocprofiler gets as its answer; a null pointer where nothing is recorded, or roctracer
// records it.
ConfigureResult* Configure(uint32_t version, ClientId* client);

// Whether rocprofiler asked, and is to collect.
bool HasAnswered();

// Has work of the device that has ended written to the log, and waits for it, at most two seconds.
void FlushDevice();

}  // namespace borescope::inject::rocm
