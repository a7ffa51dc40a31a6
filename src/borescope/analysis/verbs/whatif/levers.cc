#include "borescope/analysis/verbs/whatif/levers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/replay/changes.h"
#include "borescope/analysis/measures/replay/replay_model.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/steps/steps.h"

namespace borescope::internal {

namespace {

// How much of the path of a replay consists of what a scenario changes: about the most that it can
// save.

class PathTimes {
 public:
  PathTimes(const RankView& view, const ReplayModel& model, const std::vector<Phase>& phases,
            const std::vector<Scenario>& scenarios)
      : view_(view),
        model_(model),
        phases_(phases),
        aligned_(SharedAlignedWork(view)),
        scenarios_(scenarios),
        ns_(scenarios.size()) {
    is_on_path_.resize(model.graph.places());
    for (const Place place : PathOfReplay(model.graph, model.lags, model.times)) {
      is_on_path_[place] = 1;
    }
  }

  std::vector<int64_t> Find() {
    AddDevice();
    AddHost();
    return std::move(ns_);
  }

 private:
  void Add(size_t scenario, int64_t ns) { ns_[scenario] = AddSaturating(ns_[scenario], ns); }

  // What the path has of what device work is about.
  struct DeviceSums {
    std::vector<int64_t> kernel;  // per name
    std::map<std::string_view, int64_t> of_class;
    std::map<std::string_view, int64_t> of_phase;
    std::array<int64_t, 3> activity{};
  };

  DeviceSums SumDevice() const {
    const DeviceEvents& device = view_.trace.device();
    DeviceSums sums;
    sums.kernel.resize(view_.trace.strings().size());
    const auto add = [](int64_t& sum, int64_t ns) { sum = AddSaturating(sum, ns); };
    for (const uint32_t row : EachRow(device.size())) {
      if (!model_.graph.IsWork({row}) || is_on_path_[model_.graph.EndOf({row})] == 0) {
        continue;
      }
      const KernelClass kind = view_.index.ClassOf(view_.trace, {row});
      const Activity activity = ActivityOf(device.kind[row], kind);
      const int64_t ns = device.dur_ns[row];
      add(sums.activity[static_cast<size_t>(activity)], ns);
      add(sums.of_phase[PhaseName(PhaseOf(view_, phases_, aligned_->AsLaunched({row})))], ns);
      if (activity == Activity::kCompute) {
        add(sums.of_class[KernelClassName(kind)], ns);
      }
      if (device.kind[row] == DeviceKind::kKernel) {
        add(sums.kernel[device.name[row].value], ns);
      }
    }
    return sums;
  }

  void AddDevice() {
    const DeviceSums sums = SumDevice();
    std::multimap<std::string_view, size_t> kernels;
    const auto of = [](const std::map<std::string_view, int64_t>& ns, std::string_view text) {
      const auto found = ns.find(text);
      return found == ns.end() ? 0 : found->second;
    };
    for (size_t i = 0; i < scenarios_.size(); ++i) {
      const Change& change = scenarios_[i].changes.front();
      if (change.target == TargetKind::kKernel) {
        kernels.emplace(change.text, i);
      }
      ns_[i] = change.target == TargetKind::kClass   ? of(sums.of_class, change.text)
               : change.target == TargetKind::kPhase ? of(sums.of_phase, change.text)
               : change.target == TargetKind::kComm  ? sums.activity[At(Activity::kCommunication)]
               : change.target == TargetKind::kCopy  ? sums.activity[At(Activity::kCopy)]
                                                     : 0;
    }
    for (uint32_t name = 0; name < sums.kernel.size(); ++name) {
      if (sums.kernel[name] == 0) {
        continue;
      }
      const auto [first, end] = kernels.equal_range(view_.trace.Text({name}));
      for (auto found = first; found != end; ++found) {
        Add(found->second, sums.kernel[name]);
      }
    }
  }

  static size_t At(Activity activity) { return static_cast<size_t>(activity); }

  // Per name: which of the first 64 scenarios are about host events of this name.
  std::vector<uint64_t> ScenariosOfNames() const {
    std::vector<uint64_t> scenarios(view_.trace.strings().size());
    for (uint32_t name = 0; name < scenarios.size(); ++name) {
      const std::string_view text = view_.trace.Text({name});
      for (size_t i = 0; i < std::min<size_t>(scenarios_.size(), 64); ++i) {
        const Change& change = scenarios_[i].changes.front();
        const bool is_named = change.target == TargetKind::kHost
                                  ? text == change.text
                                  : change.kind == ChangeKind::kLaunch && IsLaunchName(text);
        scenarios[name] |= is_named ? uint64_t{1} << i : 0;
      }
    }
    return scenarios;
  }

  // An event is changed with those around it.
  std::vector<uint64_t> ScenariosOfEvents() const {
    const HostEvents& host = view_.trace.host();
    const std::vector<uint64_t> of_name = ScenariosOfNames();
    std::vector<uint64_t> scenarios(host.size());
    for (const uint32_t row : EachRow(host.size())) {
      const HostId parent = view_.index.tree.parent[row];
      scenarios[row] =
          of_name[host.name[row].value] | (parent.valid() ? scenarios[parent.value] : 0);
    }
    return scenarios;
  }

  void AddHost() {
    const std::vector<uint64_t> scenarios = ScenariosOfEvents();
    size_t count = 0;
    for (const HostPart& part : model_.graph.parts) {
      CheckStopAt(count++);
      if (is_on_path_[part.place] == 0) {
        continue;
      }
      if (part.event.valid()) {
        for (uint64_t left = scenarios[part.event.value]; left != 0; left &= left - 1) {
          Add(static_cast<size_t>(std::countr_zero(left)), part.ns);
        }
      }
      loading_ns_ = AddSaturating(loading_ns_, part.is_loading ? part.ns : 0);
    }
    for (size_t i = 0; i < scenarios_.size(); ++i) {
      if (scenarios_[i].changes.front().kind == ChangeKind::kNoDataWait) {
        Add(i, AddSaturating(loading_ns_, ArrivalTime()));
      }
    }
  }

  // Batches that the path waits for.
  int64_t ArrivalTime() const {
    int64_t ns = 0;
    for (const BatchArrival& arrival : model_.graph.arrivals) {
      ns = AddSaturating(ns, view_.trace.host().dur_ns[arrival.event.value]);
    }
    return ns;
  }

  const RankView& view_;
  const ReplayModel& model_;
  const std::vector<Phase>& phases_;
  const std::shared_ptr<const AlignedWork> aligned_;
  const std::vector<Scenario>& scenarios_;
  std::vector<int64_t> ns_;  // per scenario
  std::vector<char> is_on_path_;
  int64_t loading_ns_ = 0;
};

// The `most` scenarios with most time on the path, in their order; of equal ones the first.
// REQUIRES: each has one change, to the time of a kernel, a class, a phase, collectives, copies,
// host events of a name, launch calls or data loading. `phases` as of HostPhases. O(rows).
std::vector<Scenario> MostOnPath(const RankView& view, const ReplayModel& model,
                                 const std::vector<Phase>& phases, std::vector<Scenario> scenarios,
                                 size_t most) {
  const std::vector<int64_t> ns = PathTimes(view, model, phases, scenarios).Find();
  std::vector<size_t> order(scenarios.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ns[a] > ns[b]; });
  order.resize(std::min(order.size(), most));
  std::sort(order.begin(), order.end());
  std::vector<Scenario> kept;
  kept.reserve(order.size());
  for (const size_t i : order) {
    kept.push_back(std::move(scenarios[i]));
  }
  return kept;
}

constexpr size_t kKernelNames = 12;
constexpr size_t kHostNames = 8;

class LeverFinder {
 public:
  LeverFinder(const RankView& view, const ReplayModel& model, const RankCounters& counters)
      : view_(view),
        model_(model),
        counters_(counters),
        phases_(SharedHostPhases(view)),
        aligned_(SharedAlignedWork(view)) {}

  std::vector<Scenario> Find(size_t most) {
    SumDevice();
    SumHost();
    AddNames(TargetKind::kKernel, kernel_ns_, kKernelNames);
    AddNames(TargetKind::kHost, host_ns_, kHostNames);
    AddSpeedOfLight();
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
    // Nothing on the path says what the host would gain: this is always tried.
    scenarios_.push_back({"", {{.kind = ChangeKind::kNoSync}}});
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
    for (const uint32_t row : EachRow(device.size())) {
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

  // The sums that are not 0.
  Sums ByText(const std::vector<int64_t>& of_name) const {
    Sums sums;
    for (uint32_t name = 0; name < of_name.size(); ++name) {
      if (of_name[name] != 0) {
        Add(sums[view_.trace.Text({name})], of_name[name]);
      }
    }
    return sums;
  }

  // By the time of kernels beyond their speed of light, which speed_of_light lists by size.
  void AddSpeedOfLight() {
    std::vector<double> beyond_ns(counters_.kernels.empty() ? 0 : view_.trace.strings().size());
    const DeviceEvents& device = view_.trace.device();
    for (const DeviceId id : counters_.kernels) {
      const std::optional<double> reached = counters_.SpeedOfLightOf(id);
      if (reached.has_value() && model_.graph.IsWork(id)) {
        beyond_ns[device.name[id.value].value] +=
            static_cast<double>(device.dur_ns[id.value]) * (1 - *reached);
      }
    }
    std::vector<int64_t> of_name(beyond_ns.size());
    std::transform(beyond_ns.begin(), beyond_ns.end(), of_name.begin(), [](double ns) {
      constexpr double kMost = 4e18;  // below 2^62, so that it can be rounded and added to
      return std::llround(std::min(ns, kMost));
    });
    const size_t first = scenarios_.size();
    AddNames(TargetKind::kKernel, ByText(of_name), kKernelNames);
    for (size_t i = first; i < scenarios_.size(); ++i) {
      scenarios_[i].changes.front().kind = ChangeKind::kSpeedOfLight;
      scenarios_[i].changes.front().factor = 1;
    }
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
  const RankCounters& counters_;
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

std::vector<Scenario> LeverScenarios(const RankView& view, const ReplayModel& model,
                                     const RankCounters& counters, size_t most) {
  return LeverFinder(view, model, counters).Find(most);
}

}  // namespace borescope::internal
