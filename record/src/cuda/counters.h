// Hardware counters of chosen kernels, by CUPTI's range profiler: a session around each launch, in
// which CUPTI replays the kernel as often as its metrics need. Experimental: tried against a
// simulated CUPTI.
//
// Everything is done in the callbacks of a launch, on the thread that launches. What fails ends the
// counters of the process, with a word in its log; the launch itself goes on in any case.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject::cuda {

// Looks the functions up in CUPTI, once, when the options ask for counters. False, with a state
// record that says why, where a version has none: nothing is then measured.
bool BeginCounters(void* cupti);

// A call of the driver that launches a kernel, before and after it. `call` is what CUPTI gives to
// the callback.
void SeeLaunch(const void* call, bool is_before);

}  // namespace borescope::inject::cuda
