#include "borescope/recorder/sampling/gpu_samplers.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace borescope::internal {

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
}

void* SharedLibrary::Address(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

std::vector<std::unique_ptr<Sampler>> MakeGpuSamplers() {
  std::vector<std::unique_ptr<Sampler>> samplers;
  const auto add = [&](std::unique_ptr<Sampler> sampler) {
    if (sampler != nullptr) samplers.push_back(std::move(sampler));
    return samplers.size();
  };
  add(MakeNvmlSampler());
  const size_t before = samplers.size();
  // Both of AMD's libraries would show the same GPUs.
  if (add(MakeAmdSmiSampler()) == before) add(MakeRocmSmiSampler());
  return samplers;
}

namespace {

// Whether a library has the function, and it succeeds.
template <class... Parameters, class... Args>
bool Succeeds(int (*function)(Parameters...), Args... args) {
  return function != nullptr && function(args...) == 0;
}

// Reads one GPU after the other.
class GpuSampler : public Sampler {
 public:
  explicit GpuSampler(size_t gpus) : gpus_(gpus) {}

  void Read(std::vector<Sample>& samples) final {
    for (size_t gpu = 0; gpu < gpus_; ++gpu) {
      const std::string prefix = "gpu/" + std::to_string(gpu) + "/";
      ReadGpu(gpu,
              [&](const char* name, double value) { samples.push_back({prefix + name, value}); });
    }
  }

 protected:
  using Add = std::function<void(const char* name, double value)>;

 private:
  virtual void ReadGpu(size_t gpu, const Add& add) = 0;

  size_t gpus_;
};

}  // namespace

// AMD SMI: functions and numbers as its documentation has them. Not tried on a GPU.

namespace amd_smi {
namespace {

using Handle = void*;
constexpr int kSuccess = 0;
constexpr uint64_t kInitGpus = 2;
constexpr int kVideoMemory = 0;
constexpr int kGraphicsClock = 0;
constexpr int kMemoryClock = 4;
constexpr int kHotspot = 1;
constexpr int kEdge = 0;
constexpr int kCurrent = 0;
constexpr uint32_t kMostDevices = 64;

struct EngineUsage {
  uint32_t graphics;  // per cent
  uint32_t memory;
  uint32_t media;
  uint32_t reserved[13];
};
// Only the first member is at one place in all versions.
struct ClockInfo {
  uint32_t megahertz;
  uint32_t rest[15];
};

struct AmdSmi {
  int (*init)(uint64_t);
  int (*sockets)(uint32_t*, Handle*);
  int (*processors)(Handle, uint32_t*, Handle*);
  int (*activity)(Handle, EngineUsage*);
  int (*memory)(Handle, int, uint64_t*);
  int (*energy)(Handle, uint64_t*, float*, uint64_t*);
  int (*clock)(Handle, int, ClockInfo*);
  int (*temperature)(Handle, int, int, int64_t*);
};

AmdSmi FindFunctions(const SharedLibrary& library) {
  AmdSmi smi{};
  library.Find("amdsmi_init", smi.init);
  library.Find("amdsmi_get_socket_handles", smi.sockets);
  library.Find("amdsmi_get_processor_handles", smi.processors);
  library.Find("amdsmi_get_gpu_activity", smi.activity);
  library.Find("amdsmi_get_gpu_memory_usage", smi.memory);
  library.Find("amdsmi_get_energy_count", smi.energy);
  library.Find("amdsmi_get_clock_info", smi.clock);
  library.Find("amdsmi_get_temp_metric", smi.temperature);
  return smi;
}

std::vector<Handle> ProcessorsOf(const AmdSmi& smi) {
  std::vector<Handle> sockets(kMostDevices);
  uint32_t count = kMostDevices;
  if (smi.sockets(&count, sockets.data()) != kSuccess) return {};
  sockets.resize(std::min(count, kMostDevices));
  std::vector<Handle> processors;
  for (Handle socket : sockets) {
    std::vector<Handle> found(kMostDevices);
    uint32_t number = kMostDevices;
    if (smi.processors(socket, &number, found.data()) != kSuccess) continue;
    found.resize(std::min(number, kMostDevices));
    processors.insert(processors.end(), found.begin(), found.end());
  }
  return processors;
}

class AmdSmiSampler : public GpuSampler {
 public:
  AmdSmiSampler(const AmdSmi& smi, std::vector<Handle> devices)
      : GpuSampler(devices.size()),
        smi_(smi),
        devices_(std::move(devices)),
        last_(devices_.size()) {}

 private:
  struct Energy {
    double joules = 0;
    uint64_t ns = 0;
  };

  // What is not known is the largest number.
  void ReadGpu(size_t gpu, const Add& add) override {
    constexpr uint32_t kMostPerCent = 100;
    const Handle device = devices_[gpu];
    EngineUsage usage{};
    if (Succeeds(smi_.activity, device, &usage)) {
      if (usage.graphics <= kMostPerCent) add("utilization", usage.graphics);
      if (usage.memory <= kMostPerCent) add("memory_utilization", usage.memory);
    }
    uint64_t bytes = 0;
    if (Succeeds(smi_.memory, device, kVideoMemory, &bytes)) {
      add("memory_used", static_cast<double>(bytes));
    }
    ReadPower(gpu, add);
    ClockInfo clock{};
    if (Succeeds(smi_.clock, device, kGraphicsClock, &clock)) add("sm_clock", clock.megahertz);
    clock = {};
    if (Succeeds(smi_.clock, device, kMemoryClock, &clock)) add("memory_clock", clock.megahertz);
    int64_t degrees = 0;
    if (Succeeds(smi_.temperature, device, kHotspot, kCurrent, &degrees) ||
        Succeeds(smi_.temperature, device, kEdge, kCurrent, &degrees)) {
      add("temperature", static_cast<double>(degrees));
    }
  }

  // Structures with the power have changed; the counter of energy, from which it follows, has not.
  void ReadPower(size_t gpu, const Add& add) {
    constexpr double kMicro = 1e-6;
    constexpr double kNano = 1e-9;
    uint64_t steps = 0;
    float microjoules = 0;
    uint64_t ns = 0;
    if (!Succeeds(smi_.energy, devices_[gpu], &steps, &microjoules, &ns)) {
      return;
    }
    const Energy now{static_cast<double>(steps) * static_cast<double>(microjoules) * kMicro, ns};
    const Energy before = std::exchange(last_[gpu], now);
    add("energy", now.joules);
    if (before.ns != 0 && now.ns > before.ns && now.joules >= before.joules) {
      add("power",
          (now.joules - before.joules) / (static_cast<double>(now.ns - before.ns) * kNano));
    }
  }

  AmdSmi smi_;
  std::vector<Handle> devices_;
  std::vector<Energy> last_;
};

}  // namespace
}  // namespace amd_smi

std::unique_ptr<Sampler> MakeAmdSmiSampler() {
  using namespace amd_smi;
  const SharedLibrary library({"libamd_smi.so", "/opt/rocm/lib/libamd_smi.so"});
  const AmdSmi smi = FindFunctions(library);
  if (smi.sockets == nullptr || smi.processors == nullptr) return nullptr;
  if (!Succeeds(smi.init, kInitGpus)) return nullptr;
  std::vector<Handle> devices = ProcessorsOf(smi);
  if (devices.empty()) return nullptr;
  return std::make_unique<AmdSmiSampler>(smi, std::move(devices));
}

// ROCm SMI, which AMD SMI replaces. Not tried on a GPU.

namespace rocm_smi {
namespace {

constexpr int kVideoMemory = 0;
constexpr uint32_t kHotspot = 1;
constexpr int kCurrent = 0;
constexpr uint32_t kMostDevices = 64;

struct RocmSmi {
  int (*init)(uint64_t);
  int (*count)(uint32_t*);
  int (*busy)(uint32_t, uint32_t*);
  int (*memory_busy)(uint32_t, uint32_t*);
  int (*memory)(uint32_t, int, uint64_t*);
  int (*power_microwatts)(uint32_t, uint32_t, uint64_t*);
  int (*temperature_millidegrees)(uint32_t, uint32_t, int, int64_t*);
};

RocmSmi FindFunctions(const SharedLibrary& library) {
  RocmSmi smi{};
  library.Find("rsmi_init", smi.init);
  library.Find("rsmi_num_monitor_devices", smi.count);
  library.Find("rsmi_dev_busy_percent_get", smi.busy);
  library.Find("rsmi_dev_memory_busy_percent_get", smi.memory_busy);
  library.Find("rsmi_dev_memory_usage_get", smi.memory);
  library.Find("rsmi_dev_power_ave_get", smi.power_microwatts);
  library.Find("rsmi_dev_temp_metric_get", smi.temperature_millidegrees);
  return smi;
}

class RocmSmiSampler : public GpuSampler {
 public:
  RocmSmiSampler(const RocmSmi& smi, uint32_t devices) : GpuSampler(devices), smi_(smi) {}

 private:
  void ReadGpu(size_t gpu, const Add& add) override {
    constexpr double kMicro = 1e-6;
    constexpr double kMilli = 1e-3;
    const auto device = static_cast<uint32_t>(gpu);
    uint32_t per_cent = 0;
    if (Succeeds(smi_.busy, device, &per_cent)) add("utilization", per_cent);
    if (Succeeds(smi_.memory_busy, device, &per_cent)) add("memory_utilization", per_cent);
    uint64_t bytes = 0;
    if (Succeeds(smi_.memory, device, kVideoMemory, &bytes)) {
      add("memory_used", static_cast<double>(bytes));
    }
    uint64_t microwatts = 0;
    if (Succeeds(smi_.power_microwatts, device, 0U, &microwatts)) {
      add("power", kMicro * static_cast<double>(microwatts));
    }
    int64_t millidegrees = 0;
    if (Succeeds(smi_.temperature_millidegrees, device, kHotspot, kCurrent, &millidegrees)) {
      add("temperature", kMilli * static_cast<double>(millidegrees));
    }
  }

  RocmSmi smi_;
};

}  // namespace
}  // namespace rocm_smi

std::unique_ptr<Sampler> MakeRocmSmiSampler() {
  using namespace rocm_smi;
  const SharedLibrary library({"librocm_smi64.so", "/opt/rocm/lib/librocm_smi64.so"});
  const RocmSmi smi = FindFunctions(library);
  uint32_t count = 0;
  if (smi.count == nullptr || !Succeeds(smi.init, 0U)) return nullptr;
  if (!Succeeds(smi.count, &count) || count == 0) return nullptr;
  return std::make_unique<RocmSmiSampler>(smi, std::min(count, kMostDevices));
}

// NVIDIA's management library: functions and numbers as its documentation has them.

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

class NvmlSampler : public GpuSampler {
 public:
  NvmlSampler(const Nvml& nvml, std::vector<Device> devices)
      : GpuSampler(devices.size()), nvml_(nvml), devices_(std::move(devices)) {}

 private:
  void ReadGpu(size_t gpu, const Add& add) override {
    ReadLoad(devices_[gpu], add);
    ReadPower(devices_[gpu], add);
  }

  void ReadLoad(Device device, const Add& add) const {
    constexpr double kKilobyte = 1000;
    Utilization utilization{};
    if (Succeeds(nvml_.utilization, device, &utilization)) {
      add("utilization", utilization.gpu);
      add("memory_utilization", utilization.memory);
    }
    Memory memory{};
    if (Succeeds(nvml_.memory, device, &memory)) {
      add("memory_used", static_cast<double>(memory.used));
    }
    unsigned kilobytes = 0;
    if (Succeeds(nvml_.pcie_kb, device, kSentCounter, &kilobytes)) {
      add("pcie_sent", kKilobyte * kilobytes);
    }
    if (Succeeds(nvml_.pcie_kb, device, kReceivedCounter, &kilobytes)) {
      add("pcie_received", kKilobyte * kilobytes);
    }
  }

  void ReadPower(Device device, const Add& add) const {
    constexpr double kThousandth = 1000;
    unsigned milliwatts = 0;
    if (Succeeds(nvml_.power_mw, device, &milliwatts)) add("power", milliwatts / kThousandth);
    unsigned long long millijoules = 0;
    if (Succeeds(nvml_.energy_mj, device, &millijoules)) {
      add("energy", static_cast<double>(millijoules) / kThousandth);
    }
    unsigned degrees = 0;
    if (Succeeds(nvml_.temperature, device, kGpuSensor, &degrees)) add("temperature", degrees);
    unsigned megahertz = 0;
    if (Succeeds(nvml_.clock_mhz, device, kSmClock, &megahertz)) add("sm_clock", megahertz);
    if (Succeeds(nvml_.clock_mhz, device, kMemoryClock, &megahertz)) {
      add("memory_clock", megahertz);
    }
    unsigned long long reasons = 0;
    if (Succeeds(nvml_.throttle, device, &reasons)) {
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
  unsigned count = 0;
  if (nvml.count == nullptr || nvml.handle == nullptr || !Succeeds(nvml.init)) return nullptr;
  if (!Succeeds(nvml.count, &count)) return nullptr;
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
