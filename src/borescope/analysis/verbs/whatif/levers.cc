#include "borescope/analysis/verbs/whatif/levers.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/align_inherited.h"
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
  LeverFinder(const RankView& view, const ReplayModel& model)
      : view_(view),
        model_(model),
        phases_(SharedHostPhases(view)),
        aligned_(SharedAlignedWork(view)) {}

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
      scenarios_ = MostOnPath(view_, model_, *phases_, std::move(scenarios_), most);
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
    std::vector<int64_t> of_name(view_.trace.strings().size());
    for (uint32_t row = 0; row < device.size(); ++row) {
      CheckStopAt(row);
      if (!model_.graph.IsWork({row})) {
        continue;
      }
      const KernelClass kind = view_.index.ClassOf(view_.trace, {row});
      const Activity activity = ActivityOf(device.kind[row], kind);
      has_[static_cast<size_t>(activity)] = true;
      if (device.kind[row] == DeviceKind::kKernel) {
        Add(of_name[device.name[row].value], device.dur_ns[row]);
      }
      if (activity == Activity::kCompute) {
        Add(class_ns_[KernelClassName(kind)], device.dur_ns[row]);
      }
      const Phase phase = PhaseOf(view_, *phases_, aligned_->AsLaunched({row}));
      if (phase != Phase::kOther) {
        Add(phase_ns_[PhaseName(phase)], device.dur_ns[row]);
      }
    }
    kernel_ns_ = ByText(of_name);
  }

  // Those that are not 0.
  Sums ByText(const std::vector<int64_t>& of_name) const {
    Sums sums;
    for (uint32_t name = 0; name < of_name.size(); ++name) {
      if (of_name[name] != 0) {
        Add(sums[view_.trace.Text({name})], of_name[name]);
      }
    }
    return sums;
  }

  void SumHost() {
    std::vector<int64_t> of_name(view_.trace.strings().size());
    for (const HostPart& part : model_.graph.parts) {
      has_loading_ = has_loading_ || part.is_loading;
      if (part.event.valid()) {
        Add(of_name[view_.trace.host().name[part.event.value].value], part.ns);
      }
    }
    host_ns_ = ByText(of_name);
    std::erase_if(host_ns_, [](const auto& sum) { return IsStepOrLaunch(sum.first); });
  }

  // Steps are no levers, and launch calls are one together.
  static bool IsStepOrLaunch(std::string_view name) {
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
  const std::shared_ptr<const std::vector<Phase>> phases_;
  const std::shared_ptr<const AlignedWork> aligned_;
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
