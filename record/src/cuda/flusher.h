// The thread that fetches device records.
#pragma once

namespace borescope::inject::cuda {

// Starts it, once for a process; it sets up CUPTI and switches it on, before this returns.
void StartFlusher();

// From a callback of CUPTI: a buffer waits.
void WakeFlusher();

// Has CUPTI return what is complete, at once.
void FetchDevice();

// Before another profiler of the process takes CUPTI for itself: what there is, is fetched, and the
// log says it.
void DeviceIsTaken();

// After another profiler of the process, which took CUPTI for itself: what devices do is recorded
// again.
void TakeDeviceBack();

// Has the flusher fetch all that has ended, and waits for it, at most two seconds.
void FlushDevice();

}  // namespace borescope::inject::cuda
