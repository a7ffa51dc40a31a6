// AMD SMI: functions and numbers as its documentation has them. Not tried on a GPU.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "borescope/recorder/sampling/gpu_samplers.h"
#include "borescope/recorder/sampling/shared_library.h"

namespace borescope::internal {
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

class AmdSmiSampler : public Sampler {
 public:
  AmdSmiSampler(const AmdSmi& smi, std::vector<Handle> devices)
      : smi_(smi), devices_(std::move(devices)), last_(devices_.size()) {}

  void Read(std::vector<Sample>& samples) override {
    for (size_t i = 0; i < devices_.size(); ++i) {
      const std::string prefix = "gpu/" + std::to_string(i) + "/";
      const auto add = [&](const char* name, double value) {
        samples.push_back({prefix + name, value});
      };
      ReadLoad(devices_[i], add);
      ReadPower(i, add);
      ReadClocks(devices_[i], add);
    }
  }

 private:
  struct Energy {
    double joules = 0;
    uint64_t ns = 0;
  };

  // What is not known is the largest number.
  template <class Add>
  void ReadLoad(Handle device, const Add& add) const {
    constexpr uint32_t kMostPerCent = 100;
    EngineUsage usage{};
    if (smi_.activity != nullptr && smi_.activity(device, &usage) == kSuccess) {
      if (usage.graphics <= kMostPerCent) add("utilization", usage.graphics);
      if (usage.memory <= kMostPerCent) add("memory_utilization", usage.memory);
    }
    uint64_t bytes = 0;
    if (smi_.memory != nullptr && smi_.memory(device, kVideoMemory, &bytes) == kSuccess) {
      add("memory_used", static_cast<double>(bytes));
    }
  }

  // Structures with the power have changed; the counter of energy, from which it follows, has not.
  template <class Add>
  void ReadPower(size_t i, const Add& add) {
    constexpr double kMicro = 1e-6;
    constexpr double kNano = 1e-9;
    uint64_t steps = 0;
    float microjoules = 0;
    uint64_t ns = 0;
    if (smi_.energy == nullptr || smi_.energy(devices_[i], &steps, &microjoules, &ns) != kSuccess) {
      return;
    }
    const Energy now{static_cast<double>(steps) * static_cast<double>(microjoules) * kMicro, ns};
    const Energy before = std::exchange(last_[i], now);
    add("energy", now.joules);
    if (before.ns != 0 && now.ns > before.ns && now.joules >= before.joules) {
      add("power",
          (now.joules - before.joules) / (static_cast<double>(now.ns - before.ns) * kNano));
    }
  }

  template <class Add>
  void ReadClocks(Handle device, const Add& add) const {
    ClockInfo clock{};
    if (smi_.clock != nullptr && smi_.clock(device, kGraphicsClock, &clock) == kSuccess) {
      add("sm_clock", clock.megahertz);
    }
    clock = {};
    if (smi_.clock != nullptr && smi_.clock(device, kMemoryClock, &clock) == kSuccess) {
      add("memory_clock", clock.megahertz);
    }
    int64_t degrees = 0;
    if (smi_.temperature == nullptr) return;
    if (smi_.temperature(device, kHotspot, kCurrent, &degrees) == kSuccess ||
        smi_.temperature(device, kEdge, kCurrent, &degrees) == kSuccess) {
      add("temperature", static_cast<double>(degrees));
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
  const bool is_whole = smi.init != nullptr && smi.sockets != nullptr && smi.processors != nullptr;
  if (!is_whole || smi.init(kInitGpus) != kSuccess) return nullptr;
  std::vector<Handle> devices = ProcessorsOf(smi);
  if (devices.empty()) return nullptr;
  return std::make_unique<AmdSmiSampler>(smi, std::move(devices));
}

}  // namespace borescope::internal
