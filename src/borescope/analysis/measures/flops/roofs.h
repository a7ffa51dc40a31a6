// Roofs: the least time in which the device could have done a call. The time at the roof is the
// largest of three, which a device can spend at the same time:
//
//   matrix   matrix FLOPs / peak of the matrix units for these operands
//   vector   vector FLOPs / peak of the vector units
//   memory   compulsory bytes / bandwidth of the device memory
//
// Peaks are those of the data sheet, or the measured ceilings if a file of --device-spec has them.
// Which operands the matrix units have is taken from the name of the kernel, else from the type of
// the arguments; where a device has no matrix peak for them (fp32 of NVIDIA), vector units do the
// work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/base/result.h"
#include "borescope/opmodel/devices/device_specs.h"

namespace borescope::internal {

enum class Bound : uint8_t { kCompute, kMemory, kLatency, kUnknown };
std::string_view BoundName(Bound bound);  // "compute", "memory", "latency", ""

// The measured ceiling if there is one, else the peak.
std::optional<double> CeilingOf(const DeviceSpec& spec, Peak peak);  // 1e12 operations per second
std::optional<double> BandwidthOf(const DeviceSpec& spec);           // 1e9 bytes per second

// The least times of a call; 0 for units that it does not use.
struct RoofTime {
  int64_t matrix_ns = 0;
  int64_t vector_ns = 0;
  int64_t memory_ns = 0;

  int64_t longest() const;
};

// A kernel that takes less than this, and several times as long as its roof, is limited by starting
// and ending: filling a device takes microseconds.
inline constexpr int64_t kLatencyKernelNs = 10'000;
inline constexpr int64_t kLatencyTimesRoof = 4;

// What limited a call that took `total_ns` in `kernels` kernels. Latency if they took less than
// kLatencyKernelNs on average and more than kLatencyTimesRoof times the roof.
Bound BoundOf(const RoofTime& roof, int64_t total_ns, int64_t kernels);

class Roofs {
 public:
  // The device of --device-spec or --device, if given, is used for every device. kInvalidArgument
  // for a bad file or an unknown name.
  static Result<Roofs> Make(const RankView& view, const Params& params);

  bool knows_any() const;
  // nullptr if the device is not known.
  const DeviceSpec* SpecOf(int64_t gpu) const;

  // nullopt where the device, or a peak that the call needs, is not known. `operands`: those of its
  // main kernel (OperandFormat), or empty.
  std::optional<RoofTime> TimeOf(const ModelledCall& call, std::string_view operands,
                                 int64_t gpu) const;

 private:
  std::map<int64_t, std::optional<DeviceSpec>> specs_;  // by GPU number
};

// The time at the roof of every counted call, on the device of its first kernel; nullopt also for
// communication and copies from or to the host.
std::vector<std::optional<RoofTime>> RoofTimes(const Trace& trace, const ModelledWork& work,
                                               const Roofs& roofs);

// The device that --device or --device-spec gives; nullopt if neither was given.
Result<std::optional<DeviceSpec>> GivenDevice(const Params& params);

// How much of the time devices work at the speed of their memory. This is judged for calls of
// operators whose bytes are known (opmodel/): a call is bound by memory if its device needs longer
// to move the bytes than to compute, and moves them at half of its bandwidth or more. Slower calls
// are limited by something else.
//
// `roofline` reports the same for every operator; this is the part that a verdict needs, at a
// fraction of the cost. It leaves out what needs another pass over the recording: backward
// operators that represent operators which were not recorded, and graphs captured in the recording
// itself, count as not modelled.

// Table memory_bound: one row for each device with kernels. No rows where nothing can be judged: no
// device is known, or no call has shapes. O(kernels x the operators around them).
Result<Table> MemoryBoundTable(const RankView& view, const Selection& selection);

// Products of 32-bit numbers on vector units of a device that has TF32, and the least time that
// they would take on its tensor cores. A recording gives only this bound: how close libraries come
// to it depends on sizes, layouts and other work at the same time.

// Per device row: whether it is a kernel of matrix products or convolutions of 32-bit numbers, by
// its name, that runs on vector units of an NVIDIA device of compute capability 8.0 or later.
// O(rows).
std::vector<char> ProductsOnVectorUnits(const RankView& view);

// The least time that such products take on tensor cores.
struct TensorCoreBound {
  // Per device row: the part of its time that it would still take at least. A call takes no less
  // than its FLOPs at the peak for TF32, and no less than its bytes at the speed of the memory; its
  // kernels share that in proportion. Products whose cost is unknown may take no time at all. 1 for
  // all other work.
  std::vector<double> share;
  int64_t products_ns = 0;  // of the products as recorded
  int64_t known_ns = 0;     // the part of it with a known cost on a known device

  // At least 90 % of the time has to be known.
  bool is_known() const { return products_ns > 0 && 10 * (known_ns / 9) >= products_ns; }
};

// Of the whole recording. O(rows log rows).
Result<TensorCoreBound> BoundOfTensorCores(const RankView& view, const Params& params);

}  // namespace borescope::internal
