#include "borescope/analysis/verbs/memory/memory_levels.h"

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/base/each_row.h"

namespace borescope::internal {
namespace {

int64_t AddOrMissing(int64_t a, int64_t b) {
  int64_t sum = 0;
  const bool is_known = a != kMissing && b != kMissing && !__builtin_add_overflow(a, b, &sum);
  return is_known ? sum : kMissing;
}

}  // namespace

std::string MemoryDeviceName(int32_t type, int32_t index) {
  static constexpr std::string_view kTypes[] = {
      "cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
      "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
      "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};
  if (type < 0) {
    return "";
  }
  const auto number = static_cast<size_t>(type);
  const std::string name =
      number < std::size(kTypes) ? std::string(kTypes[number]) : "type " + std::to_string(type);
  return index < 0 ? name : name + ":" + std::to_string(index);
}

std::vector<DeviceMemory> DeviceLevels(const Trace& trace) {
  const MemoryEvents& memory = trace.memory();
  std::map<std::pair<int32_t, int32_t>, DeviceMemory> devices;
  for (const uint32_t i : EachRow(memory.size())) {
    if (memory.category[i] != MemoryCategory::kNone) {
      continue;
    }
    DeviceMemory& device = devices[{memory.device_type[i], memory.device[i]}];
    device.type = memory.device_type[i];
    device.index = memory.device[i];
    const int64_t before = device.levels.empty() ? 0 : device.levels.back().allocated;
    const bool is_recorded = memory.total_allocated[i] != kMissing;
    device.levels.push_back(
        {i, memory.ts_ns[i],
         is_recorded ? memory.total_allocated[i] : AddOrMissing(before, memory.bytes[i]),
         memory.total_reserved[i], is_recorded});
  }
  std::vector<DeviceMemory> result;
  result.reserve(devices.size());
  for (auto& [key, device] : devices) {
    result.push_back(std::move(device));
  }
  return result;
}

std::string_view MemoryCategoryName(MemoryCategory category) {
  static constexpr std::string_view kNames[] = {"parameter",       "optimizer state", "input",
                                                "temporary",       "activation",      "gradient",
                                                "autograd detail", "unknown"};
  return kNames[static_cast<size_t>(category)];
}

int64_t CategoryLevel::Sum() const {
  int64_t sum = 0;
  for (const int64_t bytes : held) {
    sum = AddOrMissing(sum, bytes);
  }
  return sum;
}

std::vector<CategoryLevel> CategoryLevels(const Trace& trace) {
  const MemoryEvents& memory = trace.memory();
  std::vector<CategoryLevel> levels;
  for (const uint32_t i : EachRow(memory.size())) {
    if (memory.category[i] == MemoryCategory::kNone) {
      continue;
    }
    if (levels.empty() || levels.back().ts_ns != memory.ts_ns[i]) {
      levels.push_back(levels.empty() ? CategoryLevel{} : levels.back());
      levels.back().ts_ns = memory.ts_ns[i];
    }
    int64_t& held = levels.back().held[static_cast<size_t>(memory.category[i])];
    held = AddOrMissing(held, memory.bytes[i]);
  }
  return levels;
}

}  // namespace borescope::internal
