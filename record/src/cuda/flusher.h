// The thread that fetches device records.
#pragma once

namespace borescope::inject::cuda {

// Starts it, once for a process; it sets up CUPTI and switches it on, before this returns.
void StartFlusher();

// From a callback of CUPTI: a buffer waits.
void WakeFlusher();

// Has the flusher fetch all that has ended, and waits for it, at most two seconds.
void FlushDevice();

}  // namespace borescope::inject::cuda
