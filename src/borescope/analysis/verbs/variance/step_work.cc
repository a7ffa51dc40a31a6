#include "borescope/analysis/verbs/variance/step_work.h"

#include <algorithm>

#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/analysis/measures/flops/op_flops.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

class WorkSummer {
 public:
  explicit WorkSummer(const StepSpans& spans)
      : spans_(spans), work_(spans.spans.size(), 0), is_known_(spans.spans.size(), 0) {}

  void Add(uint32_t step, int64_t flops) {
    if (step == kNoStep || flops == kMissing) {
      return;
    }
    if (const uint32_t span = spans_.span_of[step]; span != kNoStep) {
      AddSaturatingTo(work_[span], flops);
      is_known_[span] = 1;
    }
  }

  std::vector<int64_t> Finish() {
    // A step without a known operator is not one without work.
    if (std::find(is_known_.begin(), is_known_.end(), 0) != is_known_.end()) {
      work_.assign(work_.size(), kMissing);
    }
    return std::move(work_);
  }

 private:
  const StepSpans& spans_;
  std::vector<int64_t> work_;
  std::vector<char> is_known_;
};

}  // namespace

Result<std::vector<int64_t>> WorkOfSteps(const RankView& view, const Selected& selected,
                                         const StepSpans& spans) {
  BS_ASSIGN(const CallFlops flops, FlopsOfCalls(view, selected));
  WorkSummer summer(spans);
  const HostEvents& host = view.trace.host();
  for (uint32_t row = 0; row < flops.of_call.size(); ++row) {
    CheckStopAt(row);
    if (flops.of_call[row] != kMissing) {
      summer.Add(view.steps().At(host.track[row], host.ts_ns[row]), flops.of_call[row]);
    }
  }
  for (const ReplayedFlops& replayed : flops.replayed) {
    summer.Add(StepOf(view, replayed.work, StepRule::kLaunch), replayed.flops);
  }
  return summer.Finish();
}

}  // namespace borescope::internal
