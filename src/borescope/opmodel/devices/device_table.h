// The rows behind device_specs.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/opmodel/devices/device_specs.h"

namespace borescope::internal {

// One data sheet. 0: not published, or the device has no such unit.
struct DevicePeaksRow {
  std::string_view name;
  std::string_view source;
  double fp64 = 0, fp32 = 0, fp16 = 0, bf16 = 0;  // vector units, TFLOP/s
  double memory_gbps = 0;
  double memory_gb = 0;
  double sparsity = 1;
  double fp64_matrix = 0, fp32_matrix = 0, tf32_matrix = 0, fp16_matrix = 0, bf16_matrix = 0;
  double fp8_matrix = 0, fp4_matrix = 0, int8_matrix = 0;
};
std::span<const DevicePeaksRow> NvidiaDeviceRows();
std::span<const DevicePeaksRow> AmdDeviceRows();

// How a device that a profiler describes is known: the first row that fits.
struct DeviceMatch {
  std::string_view row;                  // DevicePeaksRow::name
  std::string_view words;                // all of these are words of the name, in small letters
  std::string_view without = {};         // none of these is
  int64_t multiprocessors = 0;           // 0: any
  int64_t min_gb = 0, max_gb = 1 << 20;  // 1e9 bytes of memory as the driver counts it
  // The name says too little: the numbers must have been recorded. Otherwise they must only not
  // contradict.
  bool by_numbers = false;
};
std::span<const DeviceMatch> DeviceMatches();

}  // namespace borescope::internal
