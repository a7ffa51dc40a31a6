// The rows of `steps`: steps of one process with one number (those that one thread marks again are
// steps of their own), what is in no step, and what their devices did.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

struct StepGroup {
  int64_t number = kMissing;   // kMissing: no step
  std::string name;            // of the first annotation, with its process if several have steps
  int64_t process = kMissing;  // kMissing unless several have steps
};

// The selected part of the windows of a group, and how long its steps took.
struct HostWindow {
  int64_t begin_ns = kMissing;
  int64_t span_ns = kMissing;
  int64_t length_ns = kMissing;  // from completion to completion
  int64_t end_ns = kMissing;     // the last completion
};

// The selected steps, in the order of their first begins. Without --step two more: launched in no
// step, and not known to have been launched.
class StepGroups {
 public:
  // `view` and `selected` outlive this.
  StepGroups(const RankView& view, const Selected& selected);

  size_t size() const { return groups_.size(); }
  StepRule rule() const { return selected_.step_rule(); }
  const StepGroup& operator[](size_t group) const { return groups_[group]; }
  const HostWindow& HostWindowOf(size_t group) const { return windows_[group]; }
  // The group of a step; of kNoStep that of no step. size() if it is not selected.
  size_t Of(uint32_t step) const;
  // That of work without a recorded launch.
  size_t OfUnlinked() const { return no_step_ < size() ? no_step_ + 1 : size(); }
  // Whether work in `tracks` may be of the process of the group.
  bool MayUse(size_t group, std::span<const uint32_t> tracks) const;

 private:
  void AddSteps();
  void MeasureWindows();

  const RankView& view_;
  const Selected& selected_;
  std::vector<StepGroup> groups_;
  std::vector<HostWindow> windows_;
  std::vector<uint32_t> processes_;  // per group: index into Steps::processes
  std::vector<size_t> group_of_;     // per step
  size_t no_step_;
};

// A group on one device, in the selected time.
struct DeviceStep {
  int64_t begin_ns = kMissing;
  int64_t end_ns = kMissing;
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  int64_t shared_ns = 0;
  int64_t kernels = 0;
  int64_t copies = 0;

  bool has_time() const { return span_ns > 0 || kernels > 0 || copies > 0; }
};

// Table inherited_steps: the steps before the recording that its inherited work
// (measures/align_inherited.h) is inferred to be of. No rows where that is not known, or steps are
// selected. O(rows).
Table InheritedSteps(const RankView& view, const Selected& selected);

// Per group.
std::vector<DeviceStep> DeviceStepsOf(const RankView& view, const Selected& selected,
                                      const StepGroups& groups, const DeviceTime& time);

}  // namespace borescope::internal
