// What devices can do at most, by their makers' data sheets: the one table for every "percent of
// peak". Dense peaks only; the gain of structured sparsity is separate. Numbers that a maker does
// not publish, or publishes in contradiction, are missing: an unknown device has no peaks, never
// those of another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Arithmetic by the unit that does it. Matrix units take short operands and accumulate in 32 bits
// unless noted otherwise.
enum class Peak : uint8_t {
  kFp64,
  kFp32,
  kFp16,
  kBf16,
  kFp64Matrix,
  kFp32Matrix,
  kTf32Matrix,
  kFp16Matrix,
  kBf16Matrix,
  kFp8Matrix,
  kFp4Matrix,
  kInt8Matrix,
  kCount
};
inline constexpr size_t kPeakCount = static_cast<size_t>(Peak::kCount);

// "fp64", ..., "fp64_matrix", ...: the keys of a file of --device-spec.
std::string_view PeakName(Peak peak);

// The peak that limits matrix kernels on such operands ("bf16", see OperandFormat) or the vector
// kernels on such numbers; nullopt for an unknown name.
std::optional<Peak> MatrixPeakOf(std::string_view format);
std::optional<Peak> VectorPeakOf(std::string_view format);

struct Ceilings {
  std::array<std::optional<double>, kPeakCount> tflops;  // 1e12 operations per second
  std::optional<double> memory_gbps;                     // 1e9 bytes per second, device memory

  std::optional<double> At(Peak peak) const { return tflops[static_cast<size_t>(peak)]; }
};

struct DeviceSpec {
  std::string name;                 // "H100 SXM5"
  std::string source;               // "NVIDIA H100 data sheet, 2023"
  Ceilings peak;                    // by the data sheet
  Ceilings measured;                // what benchmarks reach; only from a file
  std::optional<double> memory_gb;  // 1e9 bytes
  double sparsity = 1;              // 2: matrix peaks double with 2:4 structured sparsity
};

// The specification of a device as the profiler describes it: by its name, and by its number of
// multiprocessors and memory size where names are ambiguous or missing. A part of a device (MIG) or
// a cut-down model of the same name is unknown. One die of an MI250 is a device of its own, with
// the peaks of one die.
std::optional<DeviceSpec> FindDeviceSpec(const DeviceInfo& device);

// A row of the table by its name, letters of either case; "MI250X" is the whole module.
std::optional<DeviceSpec> FindDeviceSpec(std::string_view name);

// A user's own device specification, the FILE of --device-spec: for devices that are not in the
// table, and for ceilings that were measured. One JSON object:
//
//   {
//     "name": "MI300X of our cluster",              required
//     "source": "vendor data sheet, 2023",          optional
//     "tflops": {"fp32": 163.4, "bf16_matrix": 1307.4},
//     "memory_gbps": 5300,
//     "memory_gb": 192,
//     "sparsity": 2,                                1 where not given
//     "measured": {"tflops": {"bf16_matrix": 708}, "memory_gbps": 4100}
//   }
//
// Keys of "tflops" are those of PeakName; rates are in 1e12 operations and 1e9 bytes per second,
// dense. Omitted values are missing. Other keys are errors, so that a typing mistake is noticed.

// `file` only appears in the messages of errors (kInvalidArgument).
Result<DeviceSpec> ParseDeviceSpec(std::string_view json, std::string_view file);

// The rows of the tables.

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

// How to recognise a device that a profiler describes; the first row that fits counts.
struct DeviceMatch {
  std::string_view row;                  // DevicePeaksRow::name
  std::string_view words;                // all of these are words of the name, in lower case
  std::string_view without = {};         // none of these is a word of the name
  int64_t multiprocessors = 0;           // 0: any
  int64_t min_gb = 0, max_gb = 1 << 20;  // 1e9 bytes of memory as the driver counts it
  // Whether the name is not enough, so that the numbers must have been recorded. Otherwise they
  // must only not contradict.
  bool by_numbers = false;
};
std::span<const DeviceMatch> DeviceMatches();

}  // namespace borescope::internal
