// Device time as interval sets: what each GPU (or each of its streams) was doing when.
//
//   busy          some device work (kernel, memcpy, memset) runs
//   compute       the union of kernels that compute
//   comm, copy    the unions of communication kernels, and of copies (copies made by kernels too)
//   exposed comm  communication with no compute beside it
//   exposed copy  copies with neither compute nor communication beside them
//
// Hence compute + exposed comm + exposed copy = busy, exactly, in any window.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {

// One GPU, or one stream of it.
struct DeviceTime {
  int64_t gpu = kMissing;     // kMissing: the rank has no device work
  int64_t stream = kMissing;  // kMissing: all streams of the GPU together
  IntervalSet busy, compute, comm, copy, exposed_comm, exposed_copy;
  std::vector<uint32_t> tracks;  // with its work
};

enum class PerTrack : bool { kGpu, kStream };

// Whether any device work lies on the track. False for host tracks.
bool HasDeviceWork(const Trace& trace, uint32_t track);

// By GPU number, then stream. A rank without device work gives one empty row, unless the selection
// itself left its devices out. Parts of one question, which have one selection, share them.
using SharedDeviceTimes = std::shared_ptr<const std::vector<DeviceTime>>;
SharedDeviceTimes DeviceTimes(const RankView& view, const Selected& selected, PerTrack per);

// The lengths within some windows. All but the unions comm, copy and the two ends add up:
// compute + exposed_comm + exposed_copy = busy, and busy + idle = span.
struct TimeSplit {
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  int64_t compute_ns = 0;
  int64_t comm_ns = 0;
  int64_t exposed_comm_ns = 0;
  int64_t copy_ns = 0;
  int64_t exposed_copy_ns = 0;
  int64_t idle_ns = 0;
  int64_t head_idle_ns = 0;  // idle before the first device work in the windows
  int64_t tail_idle_ns = 0;  // idle after the last
};

// REQUIRES: `windows` is an IntervalSet.
TimeSplit SplitTime(const DeviceTime& time, const IntervalSet& windows);

}  // namespace borescope::internal
