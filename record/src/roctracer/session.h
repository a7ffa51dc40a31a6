// roctracer's collection, of ROCm before 6.2: set up when HIP is loaded, switched on and off with
// the recording. Experimental: never tried on an AMD device.
#pragma once

namespace borescope::inject::roctracer {

// Sets it up, once: where --rocm asks for it, HIP is loaded, and rocprofiler-sdk is not to collect.
// Any thread, but no callback of HIP.
void BeginWithHip();

// Whether it collects in this process, or in the one that this is a fork of.
bool HasBegun();

// Has work of the device that has ended written to the log, and waits for it, at most two seconds.
void FlushDevice();

}  // namespace borescope::inject::roctracer
