// NVIDIA's management library: functions and numbers as its documentation has them.
#include <cstdint>
#include <string>

#include "borescope/recorder/sampling/gpu_samplers.h"
#include "borescope/recorder/sampling/shared_library.h"

namespace borescope::internal {
namespace nvml {
namespace {

using Device = void*;
constexpr int kSuccess = 0;
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;
constexpr unsigned kGpuSensor = 0;
constexpr unsigned kSentCounter = 0;
constexpr unsigned kReceivedCounter = 1;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Nvml {
  int (*init)();
  int (*count)(unsigned*);
  int (*handle)(unsigned, Device*);
  int (*utilization)(Device, Utilization*);
  int (*memory)(Device, Memory*);
  int (*power_mw)(Device, unsigned*);
  int (*energy_mj)(Device, unsigned long long*);
  int (*clock_mhz)(Device, unsigned, unsigned*);
  int (*temperature)(Device, unsigned, unsigned*);
  int (*pcie_kb)(Device, unsigned, unsigned*);
  int (*throttle)(Device, unsigned long long*);
};

Nvml FindFunctions(const SharedLibrary& library) {
  Nvml nvml{};
  library.Find("nvmlInit_v2", nvml.init);
  library.Find("nvmlDeviceGetCount_v2", nvml.count);
  library.Find("nvmlDeviceGetHandleByIndex_v2", nvml.handle);
  library.Find("nvmlDeviceGetUtilizationRates", nvml.utilization);
  library.Find("nvmlDeviceGetMemoryInfo", nvml.memory);
  library.Find("nvmlDeviceGetPowerUsage", nvml.power_mw);
  library.Find("nvmlDeviceGetTotalEnergyConsumption", nvml.energy_mj);
  library.Find("nvmlDeviceGetClockInfo", nvml.clock_mhz);
  library.Find("nvmlDeviceGetTemperature", nvml.temperature);
  library.Find("nvmlDeviceGetPcieThroughput", nvml.pcie_kb);
  library.Find("nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle);
  return nvml;
}

class NvmlSampler : public Sampler {
 public:
  NvmlSampler(const Nvml& nvml, std::vector<Device> devices)
      : nvml_(nvml), devices_(std::move(devices)) {}

  void Read(std::vector<Sample>& samples) override {
    for (size_t i = 0; i < devices_.size(); ++i) {
      const std::string prefix = "gpu/" + std::to_string(i) + "/";
      const auto add = [&](const char* name, double value) {
        samples.push_back({prefix + name, value});
      };
      ReadLoad(devices_[i], add);
      ReadPower(devices_[i], add);
      ReadClocks(devices_[i], add);
    }
  }

 private:
  template <class Add>
  void ReadLoad(Device device, const Add& add) const {
    constexpr double kKilobyte = 1000;
    Utilization utilization{};
    if (nvml_.utilization != nullptr && nvml_.utilization(device, &utilization) == kSuccess) {
      add("utilization", utilization.gpu);
      add("memory_utilization", utilization.memory);
    }
    Memory memory{};
    if (nvml_.memory != nullptr && nvml_.memory(device, &memory) == kSuccess) {
      add("memory_used", static_cast<double>(memory.used));
    }
    unsigned kilobytes = 0;
    if (nvml_.pcie_kb == nullptr) return;
    if (nvml_.pcie_kb(device, kSentCounter, &kilobytes) == kSuccess) {
      add("pcie_sent", kKilobyte * kilobytes);
    }
    if (nvml_.pcie_kb(device, kReceivedCounter, &kilobytes) == kSuccess) {
      add("pcie_received", kKilobyte * kilobytes);
    }
  }

  template <class Add>
  void ReadPower(Device device, const Add& add) const {
    constexpr double kThousandth = 1000;
    unsigned milliwatts = 0;
    if (nvml_.power_mw != nullptr && nvml_.power_mw(device, &milliwatts) == kSuccess) {
      add("power", milliwatts / kThousandth);
    }
    unsigned long long millijoules = 0;
    if (nvml_.energy_mj != nullptr && nvml_.energy_mj(device, &millijoules) == kSuccess) {
      add("energy", static_cast<double>(millijoules) / kThousandth);
    }
    unsigned degrees = 0;
    if (nvml_.temperature != nullptr &&
        nvml_.temperature(device, kGpuSensor, &degrees) == kSuccess) {
      add("temperature", degrees);
    }
  }

  template <class Add>
  void ReadClocks(Device device, const Add& add) const {
    unsigned megahertz = 0;
    if (nvml_.clock_mhz != nullptr) {
      if (nvml_.clock_mhz(device, kSmClock, &megahertz) == kSuccess) add("sm_clock", megahertz);
      if (nvml_.clock_mhz(device, kMemoryClock, &megahertz) == kSuccess) {
        add("memory_clock", megahertz);
      }
    }
    unsigned long long reasons = 0;
    if (nvml_.throttle != nullptr && nvml_.throttle(device, &reasons) == kSuccess) {
      add("throttle_reasons", static_cast<double>(reasons));
    }
  }

  Nvml nvml_;
  std::vector<Device> devices_;
};

}  // namespace
}  // namespace nvml

std::unique_ptr<Sampler> MakeNvmlSampler() {
  using namespace nvml;
  const SharedLibrary library({"libnvidia-ml.so.1"});
  const Nvml nvml = FindFunctions(library);
  const bool is_whole = nvml.init != nullptr && nvml.count != nullptr && nvml.handle != nullptr;
  unsigned count = 0;
  if (!is_whole || nvml.init() != kSuccess || nvml.count(&count) != kSuccess) return nullptr;
  constexpr unsigned kMostDevices = 64;
  std::vector<Device> devices;
  for (unsigned i = 0; i < count && i < kMostDevices; ++i) {
    Device device = nullptr;
    // A GPU that is lost ends the list: numbers stay those of nvidia-smi.
    if (nvml.handle(i, &device) != kSuccess) break;
    devices.push_back(device);
  }
  if (devices.empty()) return nullptr;
  return std::make_unique<NvmlSampler>(nvml, std::move(devices));
}

}  // namespace borescope::internal
