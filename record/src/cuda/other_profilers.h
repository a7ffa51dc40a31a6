// Other profilers in the process, such as PyTorch's. Before CUDA 13.4 CUPTI has one owner of the
// buffers that it fills: whoever asks last.
#pragma once

namespace borescope::inject::cuda {

// On the thread that starts a profiler of the processor alone, around that: PyTorch's takes the
// buffers even then. It believes that it has them; they stay ours.
void KeepDevice();
void EndKeepingDevice();

}  // namespace borescope::inject::cuda
