#include "borescope/analysis/core/selection/device_steps.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

std::vector<StepWork> WorksOf(const RankView& view, std::span<const uint32_t> tracks) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& all = view.trace.tracks();
  std::vector<StepWork> works;
  for (const uint32_t track : tracks) {
    for (const uint32_t row : EachRow(all.first_row[track], all.end_row[track])) {
      if (IsDeviceWork(device.kind[row])) {
        works.push_back({{device.ts_ns[row], device.end_ns(DeviceId{row})},
                         StepOf(view, DeviceId{row}, StepRule::kLaunch)});
      }
    }
  }
  return works;
}

class Divider {
 public:
  explicit Divider(std::vector<StepWork> works) : works_(std::move(works)) {
    // The first step of those that begin together first.
    SortRuns(std::span(works_), [](const StepWork& a, const StepWork& b) {
      return std::tuple(a.time.begin, a.step) < std::tuple(b.time.begin, b.step);
    });
  }

  std::vector<Steps::Piece> Divide() {
    int64_t now_ns = std::numeric_limits<int64_t>::min();
    for (next_ = 0; next_ < works_.size();) {
      Start(now_ns, works_[next_].step);
      now_ns = works_[next_].time.begin;
      Open(now_ns);
      now_ns = RunUntilIdle(now_ns);
    }
    Start(now_ns, kNoStep);
    return std::move(pieces_);
  }

 private:
  // Adds the work that has begun.
  void Open(int64_t now_ns) {
    for (; next_ < works_.size() && works_[next_].time.begin <= now_ns; ++next_) {
      CheckStopAt(next_);
      running_.emplace(works_[next_].step, works_[next_].time.end);
    }
  }

  // Returns when no work runs any more.
  int64_t RunUntilIdle(int64_t now_ns) {
    for (;;) {
      while (!running_.empty() && running_.top().second <= now_ns) {
        running_.pop();
      }
      if (running_.empty()) {
        return now_ns;
      }
      const auto [step, end_ns] = running_.top();
      Start(now_ns, step);
      now_ns = next_ < works_.size() ? std::min(end_ns, works_[next_].time.begin) : end_ns;
      Open(now_ns);
    }
  }

  void Start(int64_t begin_ns, uint32_t step) {
    if (!pieces_.empty() && pieces_.back().begin_ns == begin_ns) {
      pieces_.pop_back();
    }
    if (pieces_.empty() || pieces_.back().step != step) {
      pieces_.push_back({begin_ns, step});
    }
  }

  using Running = std::pair<uint32_t, int64_t>;  // step, end

  std::vector<StepWork> works_;
  size_t next_ = 0;
  // The first step on top; work of later steps may have ended.
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::vector<Steps::Piece> pieces_;
};

}  // namespace

uint32_t StepOf(const RankView& view, DeviceId id, StepRule rule) {
  const Steps& steps = view.steps();
  if (steps.steps.empty()) {
    return kNoStep;
  }
  const bool is_launched = view.index.correlation.launch_of[id.value].valid();
  if (rule == StepRule::kTime && !is_launched) {
    const DeviceEvents& device = view.trace.device();
    return steps.At(device.track[id.value], device.ts_ns[id.value]);
  }
  return steps.device_step[id.value];
}

std::vector<Steps::Piece> DivideByWork(std::vector<StepWork> works) {
  return Divider(std::move(works)).Divide();
}

std::vector<Steps::Piece> DivideByLaunch(const RankView& view, std::span<const uint32_t> tracks) {
  return DivideByWork(WorksOf(view, tracks));
}

}  // namespace borescope::internal
