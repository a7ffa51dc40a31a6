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
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/intervals.h"
#include "borescope/index/steps/steps.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

// Who waits for which device work by the times as recorded, and the clocks of the devices.

// Found once for all parts of a question.
std::shared_ptr<const ClockedSyncs> SyncsByRecordedTimes(const RankView& view);

// The same as FindClockedSyncs gives them: with the clocks of the devices brought to that of the
// host. Of one question they are found once.
std::shared_ptr<const ClockedSyncs> SharedClockedSyncs(const RankView& view);

// The steps of device work, and of the time of a device (StepRule::kLaunch):
//
//   work   the step in whose window its launch began; without a recorded launch no step
//   time   while work runs, the step of the work; of several the step that begins first, which is
//          the one the device has not finished yet. Until work begins, the step of that work, of
//          several that begin then the first. After the last work no step.
//
// So every instant belongs to one step or to none, and whole gaps to the step that waited.

// An index into the steps of the view; kNoStep. Under kTime work without a recorded launch belongs
// to the step in whose window it began.
uint32_t StepOf(const RankView& view, DeviceId id, StepRule rule);

struct StepWork {
  Interval time;
  uint32_t step;  // any numbers, in the order of the steps
};

// Which step each time belongs to, from the smallest time on. O(works log works).
std::vector<Steps::Piece> DivideByWork(std::vector<StepWork> works);

// The same of a device or stream, whose work is in `tracks`.
std::vector<Steps::Piece> DivideByLaunch(const RankView& view, std::span<const uint32_t> tracks);

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
