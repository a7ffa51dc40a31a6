// Samples of GPUs by the libraries of their vendors, which are loaded where they are found. What
// these libraries declare is declared here, too: no header of theirs is needed.
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "borescope/recorder/sampling/sample.h"

namespace borescope::internal {

// A library of a vendor, which may be missing.

// Loaded while the process runs: such libraries start threads, and do not survive being unloaded.
class SharedLibrary {
 public:
  // The first of these names that can be loaded.
  SharedLibrary(std::initializer_list<const char*> names);

  bool is_loaded() const { return handle_ != nullptr; }

  // A function, or a null pointer.
  template <class Function>
  void Find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(Address(name));
  }

 private:
  void* Address(const char* name) const;

  void* handle_ = nullptr;
};

// Series of a GPU: gpu/N/utilization and memory_utilization (per cent), memory_used (bytes), power
// (W), energy (J since the driver began), sm_clock and memory_clock (MHz), temperature (degrees
// Celsius), pcie_sent and pcie_received (bytes a second), throttle_reasons (a sum of NVML's bits).
// N is the number that the vendor's own tool shows.

// NVIDIA's: libnvidia-ml.so.1. A null pointer without it, or without a GPU.
std::unique_ptr<Sampler> MakeNvmlSampler();
// AMD's: libamd_smi.so, or the older librocm_smi64.so.
std::unique_ptr<Sampler> MakeAmdSmiSampler();
std::unique_ptr<Sampler> MakeRocmSmiSampler();

// All GPUs of the machine. Loads libraries, which takes up to seconds.
std::vector<std::unique_ptr<Sampler>> MakeGpuSamplers();

}  // namespace borescope::internal
