// Roofs: how fast the device of a call could have been at most. The time at the roof is the
// largest of three, each of which a device does beside the others:
//
//   matrix   matrix FLOPs / peak of the matrix units for these operands
//   vector   vector FLOPs / peak of the vector units
//   memory   compulsory bytes / bandwidth of the device memory
//
// Peaks are those of the data sheet, or where a file of --device-spec has measured ceilings, those.
// Operands of matrix units are judged by the name of the kernel, else by the type of the arguments;
// where a device has no matrix peak for them (fp32 of NVIDIA), vector units do the work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/opmodel/devices/device_specs.h"

namespace borescope::internal {

enum class Bound : uint8_t { kCompute, kMemory, kLatency, kUnknown };
std::string_view BoundName(Bound bound);  // "compute", "memory", "latency", ""

// What times are compared with: the measured ceiling, where there is one, else the peak.
std::optional<double> CeilingOf(const DeviceSpec& spec, Peak peak);  // 1e12 operations per second
std::optional<double> BandwidthOf(const DeviceSpec& spec);           // 1e9 bytes per second

// The least times of a call; 0 for what it does not do.
struct RoofTime {
  int64_t matrix_ns = 0;
  int64_t vector_ns = 0;
  int64_t memory_ns = 0;

  int64_t longest() const;
};

// A kernel that takes less than this, and several times as long as the roof says, is not limited by
// the device but by starting and ending: filling it takes microseconds.
inline constexpr int64_t kLatencyKernelNs = 10'000;
inline constexpr int64_t kLatencyTimesRoof = 4;

// What held back a call that took `total_ns` in `kernels` kernels. Latency where they took less
// than kLatencyKernelNs on average and more than kLatencyTimesRoof times the roof.
Bound BoundOf(const RoofTime& roof, int64_t total_ns, int64_t kernels);

class Roofs {
 public:
  // The device of --device-spec or --device, if given, stands for every device.
  // kInvalidArgument for a bad file or an unknown name.
  static Result<Roofs> Make(const RankView& view, const Params& params);

  bool knows_any() const;
  // nullptr if the device is not known.
  const DeviceSpec* SpecOf(int64_t gpu) const;

  // nullopt where the device, or a peak that the call needs, is not known. `operands` are those of
  // its main kernel (OperandFormat), or empty.
  std::optional<RoofTime> TimeOf(const ModelledCall& call, std::string_view operands,
                                 int64_t gpu) const;

 private:
  std::map<int64_t, std::optional<DeviceSpec>> specs_;  // by GPU number
};

// The time at the roof of every counted call, on the device of its first kernel; nullopt also for
// communication and copies from or to the host.
std::vector<std::optional<RoofTime>> RoofTimes(const Trace& trace, const ModelledWork& work,
                                               const Roofs& roofs);

// What --device and --device-spec say; nullopt if neither was given.
Result<std::optional<DeviceSpec>> GivenDevice(const Params& params);

}  // namespace borescope::internal
