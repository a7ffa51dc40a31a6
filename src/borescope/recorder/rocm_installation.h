// What of AMD's software is installed here, as far as --rocm needs it.
#pragma once

#include <filesystem>
#include <string>

namespace borescope::internal {

// Why nothing of AMD's devices will be recorded, and what to do; empty where rocprofiler-sdk or
// roctracer is in ROCM_PATH or /opt/rocm. Programs may bring their own: this is a warning, and no
// error.
std::string WhyNoRocm();

// AMD's GPUs as the kernel lists them, for the library's option rocm-gpus: node, number of the
// target, compute units and warp size of each, as "2:90402:304:64,3:90402:304:64". Empty where
// there are none, or they cannot be read.
std::string RocmGpus(const std::filesystem::path& nodes = "/sys/class/kfd/kfd/topology/nodes");

}  // namespace borescope::internal
