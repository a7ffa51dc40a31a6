// ROCm SMI, which AMD SMI replaces. Not tried on a GPU.
#include <algorithm>
#include <cstdint>
#include <string>

#include "borescope/recorder/sampling/gpu_samplers.h"
#include "borescope/recorder/sampling/shared_library.h"

namespace borescope::internal {
namespace rocm_smi {
namespace {

constexpr int kSuccess = 0;
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

class RocmSmiSampler : public Sampler {
 public:
  RocmSmiSampler(const RocmSmi& smi, uint32_t devices) : smi_(smi), devices_(devices) {}

  void Read(std::vector<Sample>& samples) override {
    for (uint32_t i = 0; i < devices_; ++i) {
      const std::string prefix = "gpu/" + std::to_string(i) + "/";
      const auto add = [&](const char* name, double value) {
        samples.push_back({prefix + name, value});
      };
      ReadLoad(i, add);
      ReadPower(i, add);
    }
  }

 private:
  template <class Add>
  void ReadLoad(uint32_t device, const Add& add) const {
    uint32_t per_cent = 0;
    if (smi_.busy != nullptr && smi_.busy(device, &per_cent) == kSuccess) {
      add("utilization", per_cent);
    }
    if (smi_.memory_busy != nullptr && smi_.memory_busy(device, &per_cent) == kSuccess) {
      add("memory_utilization", per_cent);
    }
    uint64_t bytes = 0;
    if (smi_.memory != nullptr && smi_.memory(device, kVideoMemory, &bytes) == kSuccess) {
      add("memory_used", static_cast<double>(bytes));
    }
  }

  template <class Add>
  void ReadPower(uint32_t device, const Add& add) const {
    constexpr double kMicro = 1e-6;
    constexpr double kMilli = 1e-3;
    uint64_t microwatts = 0;
    if (smi_.power_microwatts != nullptr &&
        smi_.power_microwatts(device, 0, &microwatts) == kSuccess) {
      add("power", kMicro * static_cast<double>(microwatts));
    }
    int64_t millidegrees = 0;
    if (smi_.temperature_millidegrees != nullptr &&
        smi_.temperature_millidegrees(device, kHotspot, kCurrent, &millidegrees) == kSuccess) {
      add("temperature", kMilli * static_cast<double>(millidegrees));
    }
  }

  RocmSmi smi_;
  uint32_t devices_;
};

}  // namespace
}  // namespace rocm_smi

std::unique_ptr<Sampler> MakeRocmSmiSampler() {
  using namespace rocm_smi;
  const SharedLibrary library({"librocm_smi64.so", "/opt/rocm/lib/librocm_smi64.so"});
  const RocmSmi smi = FindFunctions(library);
  uint32_t count = 0;
  const bool is_whole = smi.init != nullptr && smi.count != nullptr;
  if (!is_whole || smi.init(0) != kSuccess || smi.count(&count) != kSuccess) return nullptr;
  if (count == 0) return nullptr;
  return std::make_unique<RocmSmiSampler>(smi, std::min(count, kMostDevices));
}

}  // namespace borescope::internal
