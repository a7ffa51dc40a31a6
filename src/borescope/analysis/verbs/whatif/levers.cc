#include "borescope/analysis/verbs/whatif/levers.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/verbs/whatif/time_on_path.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {
namespace {

constexpr size_t kKernelNames = 12;
constexpr size_t kHostNames = 8;

class LeverFinder {
 public:
  LeverFinder(const RankView& view, const ReplayModel& model) : view_(view), model_(model) {}

  std::vector<Scenario> Find(size_t most) {
    SumDevice();
    SumHost();
    AddNames(TargetKind::kKernel, kernel_ns_, kKernelNames);
    AddNames(TargetKind::kHost, host_ns_, kHostNames);
    for (const auto& [name, ns] : class_ns_) {
      Add(TargetKind::kClass, std::string(name));
    }
    // Where nothing is known of phases, all is one.
    for (const auto& [name, ns] : phase_ns_) {
      if (phase_ns_.size() > 1) {
        Add(TargetKind::kPhase, std::string(name));
      }
    }
    if (has_[static_cast<size_t>(Activity::kCommunication)]) {
      Add(TargetKind::kComm, "");
    }
    if (has_[static_cast<size_t>(Activity::kCopy)]) {
      Add(TargetKind::kCopy, "");
    }
    scenarios_.push_back(
        {"", {{.kind = ChangeKind::kLaunch, .target = TargetKind::kNone, .factor = kLeverFactor}}});
    if (has_loading_) {
      scenarios_.push_back({"", {{.kind = ChangeKind::kNoDataWait}}});
    }
    if (most > 0 && scenarios_.size() > most) {
      scenarios_ = MostOnPath(view_, model_, std::move(scenarios_), most);
    }
    for (Scenario& scenario : scenarios_) {
      scenario.name = Describe(scenario.changes.front());
    }
    return std::move(scenarios_);
  }

 private:
  using Sums = std::map<std::string_view, int64_t>;

  void SumDevice() {
    const DeviceEvents& device = view_.trace.device();
    const std::vector<Phase> phases = HostPhases(view_);
    for (uint32_t row = 0; row < device.size(); ++row) {
      CheckStopAt(row);
      if (!model_.graph.IsWork({row})) {
        continue;
      }
      const KernelClass kind = view_.index.ClassOf(view_.trace, {row});
      const Activity activity = ActivityOf(device.kind[row], kind);
      has_[static_cast<size_t>(activity)] = true;
      if (device.kind[row] == DeviceKind::kKernel) {
        Add(kernel_ns_[view_.trace.Text(device.name[row])], device.dur_ns[row]);
      }
      if (activity == Activity::kCompute) {
        Add(class_ns_[KernelClassName(kind)], device.dur_ns[row]);
      }
      const Phase phase = PhaseOf(view_, phases, {row});
      if (phase != Phase::kOther) {
        Add(phase_ns_[PhaseName(phase)], device.dur_ns[row]);
      }
    }
  }

  void SumHost() {
    for (const HostPart& part : model_.graph.parts) {
      has_loading_ = has_loading_ || part.is_loading;
      if (part.event.valid() && !IsStepOrLaunch(part.event)) {
        Add(host_ns_[view_.trace.Text(view_.trace.host().name[part.event.value])], part.ns);
      }
    }
  }

  // Steps are no levers, and launch calls are one together.
  bool IsStepOrLaunch(HostId event) const {
    const std::string_view name = view_.trace.Text(view_.trace.host().name[event.value]);
    return FoldStepName(name) != name || IsLaunchName(name);
  }

  void AddNames(TargetKind target, const Sums& sums, size_t count) {
    std::vector<std::pair<int64_t, std::string_view>> largest;
    largest.reserve(sums.size());
    for (const auto& [name, ns] : sums) {
      largest.emplace_back(-ns, name);
    }
    std::sort(largest.begin(), largest.end());
    largest.resize(std::min(largest.size(), count));
    for (const auto& [ns, name] : largest) {
      if (!name.empty()) {
        Add(target, std::string(name));
      }
    }
  }

  static void Add(int64_t& sum, int64_t ns) { sum = AddSaturating(sum, ns); }
  void Add(TargetKind target, std::string text) {
    scenarios_.push_back({"",
                          {{.kind = ChangeKind::kScale,
                            .target = target,
                            .text = std::move(text),
                            .factor = kLeverFactor,
                            .is_whole_name = true}}});
  }

  const RankView& view_;
  const ReplayModel& model_;
  Sums kernel_ns_;
  Sums host_ns_;
  Sums class_ns_;
  Sums phase_ns_;
  bool has_[3] = {};
  bool has_loading_ = false;
  std::vector<Scenario> scenarios_;
};

}  // namespace

std::vector<Scenario> LeverScenarios(const RankView& view, const ReplayModel& model, size_t most) {
  return LeverFinder(view, model).Find(most);
}

}  // namespace borescope::internal
