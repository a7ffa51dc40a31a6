#include "borescope/analysis/verbs/whatif/time_on_path.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {
namespace {

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
    for (uint32_t row = 0; row < device.size(); ++row) {
      CheckStopAt(row);
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
    std::map<std::string_view, size_t> kernels;
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
      const auto found =
          sums.kernel[name] == 0 ? kernels.end() : kernels.find(view_.trace.Text({name}));
      if (found != kernels.end()) {
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
    for (uint32_t row = 0; row < host.size(); ++row) {
      CheckStopAt(row);
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

}  // namespace

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

}  // namespace borescope::internal
