// Steps before the recording, of which only what the device had still to do was recorded. Their
// work has no launch, and its step is inferred from what it is like.
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_steps.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/verbs/steps/step_groups.h"
#include "borescope/base/intervals.h"
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {
namespace {

Table NewInheritedSteps() {
  Table table{
      "inherited_steps", "Steps before the recording, as far as devices worked on them", {}};
  const auto ns = [&](std::string_view name, Role role, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, role, doc);
  };
  AddRankKey(table);
  AddGpuKey(table);
  AddInt(table, "step", Unit::kNone, Role::kKey,
         "Number of the step, inferred from what its work is like.");
  ns("length_ns", Role::kSum,
     "From the last end of work of the step before to its own; missing where that was not "
     "recorded, or the step is not complete.");
  ns("busy_ns", Role::kSum, "Time in which work of the step runs (union).");
  AddInt(table, "kernels", Unit::kCount, Role::kSum, "Selected kernels of the step.");
  AddInt(table, "copies", Unit::kCount, Role::kSum, "Selected memcpys and memsets of the step.");
  ns("device_begin_ns", Role::kMin, "First begin of its recorded work on the device.");
  ns("device_end_ns", Role::kMax, "Last end of its work.");
  AddBool(table, "complete", Role::kDerived,
          "Whether the recording has all of its work on the device: what is like the first and the "
          "last work of a recorded step.");
  return table;
}

// The first and the last work of a recorded step on a device, in the order of launches.
struct EndsOfStep {
  DeviceId first;
  DeviceId last;
};

class InheritedStepper {
 public:
  InheritedStepper(const RankView& view, const Selected& selected)
      : view_(view), selected_(selected), aligned_(SharedAlignedWork(view)) {}

  Table Find() {
    Table table = NewInheritedSteps();
    if (!aligned_->IsConfident() || aligned_->step.empty() || selected_.has_steps()) {
      return table;
    }
    FindEndsOfSteps();
    Collect();
    for (const auto& [place, step] : steps_) {
      Push(table, place, step);
    }
    return table;
  }

 private:
  using Place = std::pair<int64_t, int64_t>;  // device, number of the step
  struct Found {
    std::vector<Interval> times;
    int64_t kernels = 0;
    int64_t copies = 0;
    bool has_first = false;
    bool has_last = false;
  };

  // As in the alignment.
  std::tuple<int64_t, int64_t, uint32_t> LaunchOrderOf(DeviceId id) const {
    const DeviceEvents& device = view_.trace.device();
    const int64_t number = device.correlation[id.value];
    return {IsCorrelation(number) ? number : 0, device.ts_ns[id.value], id.value};
  }

  std::pair<int64_t, uint32_t> RecordedStepOf(DeviceId id) const {
    return {view_.trace.DeviceOf(id), StepOf(view_, id, StepRule::kLaunch)};
  }

  void FindEndsOfSteps() {
    const DeviceEvents& device = view_.trace.device();
    for (uint32_t row = 0; row < device.size(); ++row) {
      CheckStopAt(row);
      const DeviceId id{row};
      if (!IsDeviceWork(device.kind[row]) || RecordedStepOf(id).second == kNoStep) {
        continue;
      }
      const auto [found, is_new] = ends_.try_emplace(RecordedStepOf(id), EndsOfStep{id, id});
      EndsOfStep& ends = found->second;
      ends.first = LaunchOrderOf(id) < LaunchOrderOf(ends.first) ? id : ends.first;
      ends.last = LaunchOrderOf(ends.last) < LaunchOrderOf(id) ? id : ends.last;
    }
  }

  void Collect() {
    const DeviceEvents& device = view_.trace.device();
    for (uint32_t row = 0; row < device.size(); ++row) {
      CheckStopAt(row);
      const DeviceId id{row};
      if (aligned_->step[row] == kMissing || !selected_.Keeps(id)) {
        continue;
      }
      Found& step = steps_[{view_.trace.DeviceOf(id), aligned_->step[row]}];
      step.times.push_back({device.ts_ns[row], device.end_ns(id)});
      ++(device.kind[row] == DeviceKind::kKernel ? step.kernels : step.copies);
      const DeviceId like = aligned_->like[row];
      const auto ends = ends_.find(RecordedStepOf(like));
      if (ends != ends_.end()) {
        step.has_first = step.has_first || ends->second.first == like;
        step.has_last = step.has_last || ends->second.last == like;
      }
    }
  }

  static int64_t EndOf(const Found& step) {
    return std::max_element(step.times.begin(), step.times.end(),
                            [](const Interval& a, const Interval& b) { return a.end < b.end; })
        ->end;
  }

  static int64_t BeginOf(const Found& step) {
    return std::min_element(step.times.begin(), step.times.end(),
                            [](const Interval& a, const Interval& b) { return a.begin < b.begin; })
        ->begin;
  }

  int64_t LengthOf(const Place& place, const Found& step) const {
    const auto before = steps_.find({place.first, place.second - 1});
    const bool is_known = step.has_first && step.has_last && before != steps_.end() &&
                          before->second.has_last && EndOf(before->second) <= EndOf(step);
    return is_known ? EndOf(step) - EndOf(before->second) : kMissing;
  }

  void Push(Table& table, const Place& place, const Found& step) const {
    Row row(table);
    row.Int(view_.rank).Int(place.first).Int(place.second).MaybeInt(LengthOf(place, step));
    row.Int(Coverage(Union(step.times))).Int(step.kernels).Int(step.copies);
    row.Int(BeginOf(step)).Int(EndOf(step)).Bool(step.has_first && step.has_last);
  }

  const RankView& view_;
  const Selected& selected_;
  const std::shared_ptr<const AlignedWork> aligned_;
  std::map<std::pair<int64_t, uint32_t>, EndsOfStep> ends_;  // by device, then index of the step
  std::map<Place, Found> steps_;
};

}  // namespace

Table InheritedSteps(const RankView& view, const Selected& selected) {
  return InheritedStepper(view, selected).Find();
}

}  // namespace borescope::internal
