// The steps of device work, and of the time of a device (StepRule::kLaunch):
//
//   work   the step in whose window its launch began; without a recorded launch no step
//   time   while work runs, the step of the work; of several the step that begins first, which is
//          the one the device has not finished yet. Until work begins, the step of that work, of
//          several that begin then the first. After the last work no step.
//
// So every instant belongs to one step or to none, and whole gaps to the step that waited.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/intervals.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
