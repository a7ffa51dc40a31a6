#include "borescope/analysis/measures/replay/run_scenario.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/roofs.h"
#include "borescope/analysis/measures/replay/changed_structure.h"
#include "borescope/analysis/measures/replay/replay_graph.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

// Lends arrays to replays, those of ended ones first, as new memory costs as much as a replay.
// Thread-safe.
class RunMemory {
 public:
  struct Arrays {
    ReplayLags lags;
    std::vector<int64_t> times;  // per place
  };

  // Arrays for one run, given back when it ends.
  class Loan {
   public:
    explicit Loan(RunMemory& memory) : memory_(memory), arrays_(memory.Take()) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { memory_.GiveBack(std::move(arrays_)); }

    Arrays* operator->() { return arrays_.get(); }

   private:
    RunMemory& memory_;
    std::unique_ptr<Arrays> arrays_;
  };

 private:
  std::unique_ptr<Arrays> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(++lent_);  // so that giving back never allocates
      return std::make_unique<Arrays>();
    }
    std::unique_ptr<Arrays> arrays = std::move(free_.back());
    free_.pop_back();
    return arrays;
  }

  void GiveBack(std::unique_ptr<Arrays> arrays) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(arrays));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Arrays>> free_;
  size_t lent_ = 0;
};

namespace {

// The values of column `bound_by`, as in critical-path.
constexpr std::array<std::string_view, 8> kBounds = {
    "cpu",         "data_load",         "launch",          "kernel_kernel_delay",
    "gpu_compute", "gpu_communication", "gpu_memory_copy", "wait"};
enum PathBound : uint8_t {
  kCpu,
  kDataLoad,
  kLaunchDelay,
  kKernelDelay,
  kGpu,
  kCommBound = kGpu + static_cast<uint8_t>(Activity::kCommunication),
  kUnknownWait = 7
};

int64_t Times(int64_t ns, double factor) {
  return factor == 1 ? ns
                     : std::llround(std::min(static_cast<double>(ns) * factor,
                                             static_cast<double>(kLongestLagNs)));
}

int64_t CountOf(const std::vector<char>& marked) {
  return std::count_if(marked.begin(), marked.end(), [](char mark) { return mark != 0; });
}

}  // namespace

class ScenarioRunner::Recording {
 public:
  Recording(const RankView& view, const ReplayModel& model, const Params& params)
      : view_(view),
        model_(model),
        params_(params),
        targets_(view, model.graph),
        inherited_(SharedInheritedWork(view)),
        thread_edge_(model.graph.places(), kNoEdge),
        loading_ns_(model.graph.places(), 0) {
    for (const HostPart& part : graph().parts) {
      thread_edge_[part.place] = graph().ThreadEdgeInto(part.place);
      loading_ns_[part.place] += part.is_loading ? part.ns : 0;
    }
  }

  Result<ScenarioRun> Run(const Scenario& scenario) const {
    ScenarioRun run;
    ChangedTimes times;
    RunMemory::Loan arrays(memory_);
    ReplayLags& lags = arrays->lags;
    lags = model_.lags;
    for (const ChangeKind kind :
         {ChangeKind::kRemove, ChangeKind::kScale, ChangeKind::kRoof, ChangeKind::kSpeedOfLight,
          ChangeKind::kNoDataWait, ChangeKind::kTensorCores, ChangeKind::kLaunch,
          ChangeKind::kNoSync, ChangeKind::kOverlapComm, ChangeKind::kGraph}) {
      for (const Change& change : scenario.changes) {
        if (change.kind == kind) {
          BS_TRY(Make(change, times, lags, run));
        }
      }
    }
    CountWork(times, run);
    ApplyDevice(times, lags);
    ApplyHost(times, lags);
    std::stable_sort(lags.added.begin(), lags.added.end(),
                     [](const auto& a, const auto& b) { return a.place < b.place; });
    Replay(graph(), lags, arrays->times);
    run.stretch_ns = StretchTimes(graph(), arrays->times);
    run.bound_by = BoundOfPath(lags, arrays->times);
    if (run.has_collectives || run.bound_by == kBounds[kCommBound]) {
      DropCommunication(lags);
      Replay(graph(), lags, arrays->times);
      run.without_comm_ns = StretchTimes(graph(), arrays->times);
    }
    return run;
  }

  std::string_view BoundOfPath(const ReplayLags& lags, const std::vector<int64_t>& times) const {
    std::array<int64_t, kBounds.size()> sums{};
    WalkPathOfReplay(graph(), lags, times, [&](Place place, const Decision& decision) {
      if (place == graph().begin || decision.source == kNoPlace) {
        return;
      }
      const int64_t ns = times[place] - std::max(times[decision.source], times[graph().begin]);
      const int64_t loading_ns = std::min(ns, loading_ns_[place]);
      const size_t bound = BoundOf(place, decision);
      sums[bound == kCpu ? size_t{kDataLoad} : bound] += bound == kCpu ? loading_ns : 0;
      sums[bound] += bound == kCpu ? ns - loading_ns : ns;
    });
    return kBounds[static_cast<size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin())];
  }

  std::string_view BoundNow() const { return BoundOfPath(model_.lags, model_.times); }

 private:
  const ReplayGraph& graph() const { return model_.graph; }

  bool IsCommunicationWork(uint32_t row) const {
    return ActivityOf(view_.trace.device().kind[row], view_.index.ClassOf(view_.trace, {row})) ==
           Activity::kCommunication;
  }

  void DropCommunication(ReplayLags& lags) const {
    for (const uint32_t row : EachRow(view_.trace.device().size())) {
      if (graph().IsWork({row}) && IsCommunicationWork(row)) {
        lags.ns[graph().first_edge[graph().EndOf({row})]] = 0;
      }
    }
  }

  size_t BoundOf(Place place, const Decision& decision) const {
    const EventGraph& events = graph().recording.graph;
    const NodeId node = graph().node[place];
    const bool is_own = decision.edge != kNoEdge && graph().lag_class[decision.edge] == kOwnLag;
    if (events.side[node] == NodeSide::kHost) {
      return kCpu;
    }
    if (events.side[node] == NodeSide::kNone) {
      return kUnknownWait;
    }
    const DeviceId id{events.event[node]};
    if (graph().EndOf(id) == place) {
      return kGpu + static_cast<size_t>(ActivityOf(view_.trace.device().kind[id.value],
                                                   view_.index.ClassOf(view_.trace, id)));
    }
    if (is_own) {
      return kUnknownWait;
    }
    const bool is_launch = events.side[graph().node[decision.source]] == NodeSide::kHost;
    return is_launch ? kLaunchDelay : kKernelDelay;
  }

  Result<void> Make(const Change& change, ChangedTimes& times, ReplayLags& lags,
                    ScenarioRun& run) const {
    switch (change.kind) {
      case ChangeKind::kRemove:
      case ChangeKind::kScale:
        return change.target == TargetKind::kHost ? ScaleHost(change, times, run)
                                                  : ScaleWork(change, times, run);
      case ChangeKind::kRoof:
        return ReachRoof(change, times);
      case ChangeKind::kSpeedOfLight:
        return ReachSpeedOfLight(change, times);
      case ChangeKind::kTensorCores:
        return UseTensorCores(times);
      case ChangeKind::kNoDataWait:
        return LoadAhead(times, lags, run);
      case ChangeKind::kLaunch:
        return ScaleRows(targets_.InLaunches(), change, times, run);
      case ChangeKind::kNoSync:
      case ChangeKind::kOverlapComm:
      case ChangeKind::kGraph:
        return ChangeStructure(change, times, lags, run);
    }
    return {};
  }

  static Error NothingIs(std::string_view what) {
    return {ErrorCode::kMissingData, std::string(what) + " in this recording"};
  }

  Result<void> ScaleWork(const Change& change, ChangedTimes& times, ScenarioRun& run) const {
    const std::vector<char> work = targets_.WorkOf(change);
    if (CountOf(work) == 0) {
      return NothingIs("there is no such device work");
    }
    times.device.resize(work.size(), 1);
    times.removed.resize(work.size(), 0);
    const bool is_removal = change.kind == ChangeKind::kRemove;
    for (size_t row = 0; row < work.size(); ++row) {
      if (work[row] != 0) {
        times.device[row] *= is_removal ? 0 : change.factor;
        times.removed[row] |= is_removal ? 1 : 0;
      }
    }
    if (is_removal) {
      Change launches = change;
      launches.factor = 0;
      BS_TRY(ScaleRows(targets_.LaunchesWithout(work), launches, times, run));
    }
    return {};
  }

  Result<void> ScaleHost(const Change& change, ChangedTimes& times, ScenarioRun& run) const {
    Change factor = change;
    factor.factor = change.kind == ChangeKind::kRemove ? 0 : change.factor;
    const std::vector<char> rows = targets_.HostIn(change.text, change.is_whole_name);
    if (CountOf(rows) == 0) {
      return NothingIs("there is no such event of the host");
    }
    return ScaleRows(rows, factor, times, run);
  }

  static Result<void> ScaleRows(const std::vector<char>& rows, const Change& change,
                                ChangedTimes& times, ScenarioRun& run) {
    times.host.resize(rows.size(), 1);
    for (size_t row = 0; row < rows.size(); ++row) {
      times.host[row] *= rows[row] != 0 ? change.factor : 1;
    }
    run.host_events += CountOf(rows);
    return {};
  }

  bool LoadsData() const {
    return std::any_of(graph().parts.begin(), graph().parts.end(),
                       [](const HostPart& part) { return part.is_loading; });
  }

  Result<void> LoadAhead(ChangedTimes& times, ReplayLags& lags, ScenarioRun& run) const {
    for (const BatchArrival& arrival : graph().arrivals) {
      if (arrival.edge != kNoEdge) {
        lags.ns[arrival.edge] = kNoDependency;
      }
    }
    if (!LoadsData()) {
      return NothingIs("there is no data loading");
    }
    if (std::exchange(times.loads_ahead, true)) {
      return {};
    }
    const std::vector<double> factors = targets_.TakingBatches();
    times.host.resize(factors.size(), 1);
    for (size_t row = 0; row < factors.size(); ++row) {
      times.host[row] *= factors[row];
      run.host_events += factors[row] != 1 ? 1 : 0;
    }
    return {};
  }

  Result<void> ReachRoof(const Change& change, ChangedTimes& times) const {
    BS_ASSIGN(const OpModelOptions options, ModelOptionsOf(params_));
    BS_ASSIGN(const ModelledWork work, ModelWork(view_, options));
    BS_ASSIGN(const Roofs roofs, Roofs::Make(view_, params_));
    const std::vector<std::optional<RoofTime>> least = RoofTimes(view_.trace, work, roofs);
    times.at_roof.resize(view_.trace.device().size(), 1);
    bool has_any = false;
    for (size_t call = 0; call < least.size(); ++call) {
      int64_t total_ns = 0;
      for (const DeviceId id : work.WorksOf(work.calls[call])) {
        total_ns = AddSaturating(total_ns, view_.trace.device().dur_ns[id.value]);
      }
      if (!least[call] || total_ns <= 0) {
        continue;
      }
      has_any = true;
      const double share = static_cast<double>(least[call]->longest()) /
                           (change.factor * static_cast<double>(total_ns));
      for (const DeviceId id : work.WorksOf(work.calls[call])) {
        times.at_roof[id.value] = std::min(times.at_roof[id.value], share);
      }
    }
    return has_any ? Result<void>() : NothingIs("no call has a known cost on a known device");
  }

  // What a kernel takes beyond its speed of light is gone: speed_of_light has it as beyond_ns.
  Result<void> ReachSpeedOfLight(const Change& change, ChangedTimes& times) const {
    BS_ASSIGN(const std::shared_ptr<const RankCounters> counters, SharedKernelCounters(view_));
    const bool is_of_some = change.target != TargetKind::kNone;
    const std::vector<char> asked = is_of_some ? targets_.WorkOf(change) : std::vector<char>();
    if (is_of_some && CountOf(asked) == 0) {
      return NothingIs("there is no such device work");
    }
    times.at_roof.resize(view_.trace.device().size(), 1);
    bool has_any = false;
    for (const DeviceId id : counters->kernels) {
      const std::optional<double> reached = counters->SpeedOfLightOf(id);
      if (!reached.has_value() || (is_of_some && asked[id.value] == 0)) {
        continue;
      }
      has_any = true;
      times.at_roof[id.value] = std::min(times.at_roof[id.value], *reached / change.factor);
    }
    return has_any ? Result<void>()
                   : Error{ErrorCode::kMissingData,
                           "no such kernel has its percentages of the peaks measured",
                           "give a report of Nsight Compute with `counters` (`borescope counters "
                           "--help` has its metrics)"};
  }

  Result<void> UseTensorCores(ChangedTimes& times) const {
    BS_ASSIGN(const TensorCoreBound bound, BoundOfTensorCores(view_, params_));
    if (!bound.is_known()) {
      return NothingIs(bound.products_ns == 0 ? "no product could run on tensor cores by TF32"
                                              : "most products have no known cost on this device");
    }
    times.at_roof.resize(bound.share.size(), 1);
    for (size_t row = 0; row < bound.share.size(); ++row) {
      times.at_roof[row] = std::min(times.at_roof[row], bound.share[row]);
    }
    return {};
  }

  Result<void> ChangeStructure(const Change& change, ChangedTimes& times, ReplayLags& lags,
                               ScenarioRun& run) const {
    StructureChanger changer(view_, model_, targets_, lags, times);
    const StructureChange done = change.kind == ChangeKind::kNoSync ? changer.EndWaits(change.text)
                                 : change.kind == ChangeKind::kOverlapComm
                                     ? changer.OverlapCollectives()
                                     : changer.MakeGraphs(change.text);
    run.host_events += done.calls;
    run.assumed_ns += done.assumed_ns;
    run.is_unsafe = run.is_unsafe || done.is_unsafe;
    if (done.calls == 0 && change.kind != ChangeKind::kOverlapComm) {
      return NothingIs(change.kind == ChangeKind::kNoSync ? "no such call waits for a device"
                                                          : "no such region has launches to join");
    }
    return {};
  }

  bool IsChanged(const ChangedTimes& times, uint32_t row) const {
    return graph().IsWork({row}) && times.DeviceFactor({row}) != 1;
  }

  // Whether the work is launched in a measured step, or there are no steps. Work from before the
  // recording counts, as the first step waits for it.
  bool IsInside(uint32_t row) const {
    if (inherited_->IsInherited(DeviceId{row})) {
      return true;
    }
    const Steps& steps = view_.steps();
    const uint32_t step = steps.device_step.empty() ? kNoStep : steps.device_step[row];
    return graph().stretches.front().step == kMissing ||
           (step != kNoStep && steps.steps[step].process == steps.steps.front().process);
  }

  void CountWork(const ChangedTimes& times, ScenarioRun& run) const {
    for (const uint32_t row : EachRow(view_.trace.device().size())) {
      if (!IsChanged(times, row)) {
        continue;
      }
      ++run.works;
      run.is_outside = run.is_outside || !IsInside(row);
      run.has_collectives = run.has_collectives || IsCommunicationWork(row);
    }
  }

  // Removed work takes no time, and neither do the lags before it.
  void ApplyDevice(const ChangedTimes& times, ReplayLags& lags) const {
    for (const uint32_t row : EachRow(view_.trace.device().size())) {
      if (!IsChanged(times, row)) {
        continue;
      }
      const uint32_t work = graph().first_edge[graph().EndOf({row})];
      lags.ns[work] = Times(graph().own_ns[work], times.DeviceFactor({row}));
      if (times.IsRemoved({row})) {
        DropLags(graph().StartOf({row}), lags);
      }
    }
  }

  void DropLags(Place start, ReplayLags& lags) const {
    for (uint32_t edge = graph().first_edge[start]; edge < graph().first_edge[start + 1]; ++edge) {
      if (graph().lag_class[edge] != kOwnLag) {
        lags.ns[edge] = std::min<int64_t>(lags.ns[edge], 0);
      }
    }
  }

  void ApplyHost(const ChangedTimes& times, ReplayLags& lags) const {
    if (times.host.empty()) {
      return;
    }
    size_t count = 0;
    for (const HostPart& part : graph().parts) {
      CheckStopAt(count++);
      const double factor = times.HostFactor(part.event);
      if (factor != 1 && thread_edge_[part.place] != kNoEdge) {
        const uint32_t edge = thread_edge_[part.place];
        int64_t& lag_ns = lags.ns[edge];
        const int64_t change_ns = WithoutRecording(edge, Times(part.ns, factor) - part.ns);
        lag_ns = std::min(AddSaturating(lag_ns, change_ns), kLongestLagNs);
      }
    }
  }

  // If a stretch is shorter than recorded, each of its parts is shorter in proportion.
  int64_t WithoutRecording(uint32_t edge, int64_t ns) const {
    const int64_t own_ns = graph().own_ns[edge];
    const int64_t left_ns = model_.lags.ns[edge];
    return left_ns == own_ns || own_ns <= 0
               ? ns
               : std::llround(static_cast<double>(ns) * static_cast<double>(left_ns) /
                              static_cast<double>(own_ns));
  }

  const RankView& view_;
  const ReplayModel& model_;
  const Params& params_;
  const ChangeTargets targets_;
  const std::shared_ptr<const InheritedWork> inherited_;
  std::vector<uint32_t> thread_edge_;  // per place with host time: the dependency with that time
  std::vector<int64_t> loading_ns_;    // per place: the part of that time in data loading
  mutable RunMemory memory_;
};

ScenarioRunner::ScenarioRunner(const RankView& view, const ReplayModel& model, const Params& params)
    : recording_(std::make_unique<const Recording>(view, model, params)) {}

ScenarioRunner::~ScenarioRunner() = default;

Result<ScenarioRun> ScenarioRunner::Run(const Scenario& scenario) const {
  return recording_->Run(scenario);
}

std::string_view ScenarioRunner::BoundByNow() const { return recording_->BoundNow(); }

namespace {

// The part of a saving that may be wrong beyond the error of the unchanged replay: lags may change
// with the work around them, and times that are kept may change too.
constexpr double kSavingError = 0.05;
// Launches of graphs may take half or one and a half times as long as assumed.
constexpr double kAssumedError = 0.5;
constexpr double kLow = 0.1;
constexpr double kHigh = 0.9;

bool ChangesDevices(const Scenario& scenario) {
  return std::any_of(scenario.changes.begin(), scenario.changes.end(), [](const Change& change) {
    return change.target != TargetKind::kHost && change.kind != ChangeKind::kLaunch &&
           change.kind != ChangeKind::kNoDataWait;
  });
}

constexpr std::string_view kUnsafe =
    "it is not recorded whether something needs the result that is no longer waited for";
constexpr std::string_view kNotTestable =
    "not testable: host threads alone decide how long this recording takes";
constexpr std::string_view kHoldsWaits =
    "times of collectives include waits for other ranks, which would change too";
constexpr std::string_view kOutside =
    "some of the changes are outside of steps, or in steps of another process, which are not "
    "measured";
constexpr std::string_view kRefusedNote = "refused: the cause in replay_quality says why";

}  // namespace

Result<void> AskAboutSteps(const RankView& view, const Selection& selection, ReplayGraph& graph) {
  if (selection.steps.empty()) {
    return {};
  }
  BS_TRY(Selected::Make(view, selection));
  for (ReplayStretch& stretch : graph.stretches) {
    stretch.is_asked = stretch.step != kMissing && selection.steps.Contains(stretch.step);
  }
  return {};
}

std::shared_ptr<const Result<ReplayModel>> SharedReplayModel(const RankView& view,
                                                             const Params& params) {
  return view.Shared<ReplayModel>([&]() -> Result<ReplayModel> {
    ReplayModel model = MakeReplayModel(view, params.Text(kDataLoadParam));
    BS_TRY(AskAboutSteps(view, params.selection, model.graph));
    return model;
  });
}

MeasureId ReplayModelIsDear(const Params& /*params*/) { return kMeasureId<ReplayModel>; }

std::string_view NoteOf(const std::optional<ScenarioAnswer>& answer, const ScenarioRun& run) {
  return !answer                ? kRefusedNote
         : run.is_unsafe        ? kUnsafe
         : !answer->is_testable ? kNotTestable
         : run.is_outside       ? kOutside
         : run.has_collectives  ? kHoldsWaits
                                : std::string_view();
}

std::optional<ScenarioAnswer> AnswerScenario(const ReplayModel& model, const Scenario& scenario,
                                             const ScenarioRun& run) {
  const ReplayQuality& quality = model.quality;
  if (quality.verdict == ReplayVerdict::kRefused) {
    return std::nullopt;
  }
  const std::vector<int64_t> before = StretchTimes(model.graph, model.times);
  const std::vector<int64_t> measured =
      model.doubt_ns ? before : StretchTimes(model.graph, MeasuredTimes(model.graph));
  std::vector<double> savings;
  int64_t measured_ns = 0;
  int64_t saved_ns = 0;
  int64_t saved_without_comm_ns = 0;
  const bool has_comm = run.without_comm_ns.size() == before.size();
  for (size_t i = 0; i < before.size(); ++i) {
    if (model.graph.stretches[i].is_asked) {
      saved_without_comm_ns += has_comm ? before[i] - run.without_comm_ns[i] : 0;
      measured_ns += measured[i];
      saved_ns += before[i] - run.stretch_ns[i];
      savings.push_back(static_cast<double>(before[i] - run.stretch_ns[i]));
    }
  }
  const auto steps = static_cast<int64_t>(savings.size());
  if (steps == 0) {
    return std::nullopt;
  }
  ScenarioAnswer answer;
  answer.step_ns = measured_ns / steps;
  answer.new_ns = std::max<int64_t>((measured_ns - saved_ns) / steps, 0);
  if (has_comm) {
    answer.without_comm_ns = std::max<int64_t>((measured_ns - saved_without_comm_ns) / steps, 0);
  }
  const double spread = (Quantile(savings, kHigh) - Quantile(savings, kLow)) / 2 /
                        std::sqrt(static_cast<double>(steps));
  const double error =
      quality.error() * static_cast<double>(answer.step_ns) + spread +
      static_cast<double>(model.doubt_ns.value_or(0)) +
      kAssumedError * static_cast<double>(run.assumed_ns) / static_cast<double>(steps) +
      kSavingError * std::abs(static_cast<double>(saved_ns)) / static_cast<double>(steps);
  answer.low_ns = std::max<int64_t>(answer.new_ns - std::llround(error), 0);
  answer.high_ns = answer.new_ns + std::llround(error);
  answer.is_testable = quality.verdict != ReplayVerdict::kUntested || !ChangesDevices(scenario);
  return answer;
}

}  // namespace borescope::internal
