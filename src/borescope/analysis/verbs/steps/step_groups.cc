#include "borescope/analysis/verbs/steps/step_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/steps/steps.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

using Limits = std::numeric_limits<int64_t>;

// Calls `visit(step, from, to)` for each piece.
template <class Visit>
void VisitPieces(const std::vector<Steps::Piece>& pieces, const Visit& visit) {
  Steps::Piece piece{Limits::min(), kNoStep};
  for (const Steps::Piece& next : pieces) {
    visit(piece.step, Interval{piece.begin_ns, next.begin_ns});
    piece = next;
  }
  visit(piece.step, Interval{piece.begin_ns, Limits::max()});
}

StepGroup GroupOf(const RankView& view, const Step& step) {
  const std::vector<int64_t>& processes = view.steps().processes;
  const std::string_view name = view.trace.Name(step.annotation);
  if (processes.size() == 1) {
    return {step.number, std::string(name)};
  }
  const int64_t process = processes[step.process];
  return {step.number, fmt::format("{} (process {})", name, process), process};
}

class DeviceStepper {
 public:
  DeviceStepper(const RankView& view, const Selected& selected, const StepGroups& groups,
                const DeviceTime& time)
      : view_(view), selected_(selected), groups_(groups), time_(time), steps_(groups.size()) {}

  std::vector<DeviceStep> Measure() {
    CountWorks();
    selected_.step_rule() == StepRule::kLaunch ? MeasureWork() : MeasureWindows();
    return std::move(steps_);
  }

 private:
  // The group of any work of the device, selected or not; size() if the group is not selected.
  size_t GroupOf(DeviceId id) const {
    const bool is_unlinked = selected_.step_rule() == StepRule::kLaunch &&
                             !view_.index.correlation.launch_of[id.value].valid();
    return is_unlinked ? groups_.OfUnlinked()
                       : groups_.Of(StepOf(view_, id, selected_.step_rule()));
  }

  template <class Visit>
  void VisitWorks(const Visit& visit) const {
    const Tracks& tracks = view_.trace.tracks();
    for (const uint32_t track : time_.tracks) {
      for (const uint32_t row : EachRow(tracks.first_row[track], tracks.end_row[track])) {
        if (IsDeviceWork(view_.trace.device().kind[row])) {
          visit(DeviceId{row});
        }
      }
    }
  }

  void CountWorks() {
    VisitWorks([this](DeviceId id) {
      const size_t group = selected_.Keeps(id) ? GroupOf(id) : groups_.size();
      if (group < groups_.size()) {
        const bool is_kernel = view_.trace.device().kind[id.value] == DeviceKind::kKernel;
        ++(is_kernel ? steps_[group].kernels : steps_[group].copies);
      }
    });
  }

  // --step-rule time: what runs in the windows.
  void MeasureWindows() {
    const IntervalSet selected = selected_.TimeOf(time_.tracks);
    VisitPieces(selected_.PiecesOf(time_.tracks), [&](uint32_t step, Interval piece) {
      const IntervalSet windows = Clip(selected, piece);
      const size_t group = groups_.Of(step);
      if (windows.empty() || group == groups_.size()) {
        return;
      }
      DeviceStep& found = steps_[group];
      found.begin_ns = found.begin_ns == kMissing ? windows.front().begin : found.begin_ns;
      found.end_ns = windows.back().end;
      found.span_ns += Coverage(windows);
      found.busy_ns += BusyIn(windows);
    });
  }

  // --step-rule launch: the work of each step, wherever it runs.
  void MeasureWork() {
    const DeviceEvents& device = view_.trace.device();
    std::vector<StepWork> works;
    std::vector<std::vector<Interval>> of_groups(groups_.size());
    VisitWorks([&](DeviceId id) {
      const Interval time{device.ts_ns[id.value], device.end_ns(id)};
      works.push_back({time, RankOf(id)});
      if (const size_t group = GroupOf(id); group < groups_.size()) {
        AddWork(time, device.dur_ns[id.value] == 0 && selected_.Keeps(id), of_groups[group],
                steps_[group]);
      }
    });
    for (size_t group = 0; group < of_groups.size(); ++group) {
      DeviceStep& step = steps_[group];
      step.busy_ns = Coverage(Union(std::move(of_groups[group])));
      step.span_ns = step.begin_ns == kMissing ? 0 : step.end_ns - step.begin_ns;
      step.shared_ns = step.busy_ns;  // less what no earlier step shares
    }
    VisitPieces(DivideByWork(std::move(works)), [&](uint32_t rank, Interval piece) {
      const size_t group = GroupOfRank(rank);
      if (group < groups_.size()) {
        steps_[group].shared_ns -= BusyIn(Clip(selected_.time_of_all_steps(), piece));
      }
    });
  }

  // The selected parts of work; of work without length its time.
  void AddWork(Interval time, bool is_instant, std::vector<Interval>& parts, DeviceStep& step) {
    IntervalSet inside = Clip(selected_.time_of_all_steps(), time);
    if (is_instant) {
      inside.push_back(time);
    }
    for (const Interval& part : inside) {
      step.begin_ns = step.begin_ns == kMissing ? part.begin : std::min(step.begin_ns, part.begin);
      step.end_ns = std::max(step.end_ns, part.end);
      parts.push_back(part);
    }
  }

  // Steps in their order, then what was launched in none, then what has no launch.
  uint32_t RankOf(DeviceId id) const {
    const uint32_t step = StepOf(view_, id, StepRule::kLaunch);
    const bool is_linked = view_.index.correlation.launch_of[id.value].valid();
    return step == kNoStep && is_linked ? kNoStep - 1 : step;
  }

  size_t GroupOfRank(uint32_t rank) const {
    return rank == kNoStep ? groups_.OfUnlinked()
                           : groups_.Of(rank == kNoStep - 1 ? kNoStep : rank);
  }

  int64_t BusyIn(const IntervalSet& windows) const {
    int64_t busy_ns = 0;
    for (const Interval& window : windows) {
      busy_ns += Coverage(Clip(time_.busy, window));
    }
    return busy_ns;
  }

  const RankView& view_;
  const Selected& selected_;
  const StepGroups& groups_;
  const DeviceTime& time_;
  std::vector<DeviceStep> steps_;
};

}  // namespace

StepGroups::StepGroups(const RankView& view, const Selected& selected)
    : view_(view), selected_(selected) {
  AddSteps();
  no_step_ = groups_.size();
  MeasureWindows();
  if (!selected.has_steps()) {
    groups_.push_back({.name = "(no step)"});
    groups_.push_back({.name = "(no launch)"});
  }
}

void StepGroups::AddSteps() {
  const Steps& steps = view_.steps();
  const std::vector<uint32_t> occurrences = OccurrencesOf(view_.trace, steps.steps);
  const std::vector<Interval> times = StepTimes(view_, SharedClockedSyncs(view_)->clocks);
  std::map<std::tuple<uint32_t, int64_t, uint32_t>, size_t> known;
  group_of_.assign(steps.steps.size(), std::numeric_limits<size_t>::max());
  for (const uint32_t i : selected_.steps_at_any_time()) {
    const Step& step = steps.steps[i];
    const auto [found, is_new] =
        known.try_emplace({step.process, step.number, occurrences[i]}, groups_.size());
    if (is_new) {
      groups_.push_back(GroupOf(view_, step));
      windows_.push_back({step.begin_ns, 0, 0, times[i].end});
      processes_.push_back(step.process);
    }
    HostWindow& window = windows_[found->second];
    window.length_ns += times[i].length();
    window.end_ns = std::max(window.end_ns, times[i].end);
    group_of_[i] = found->second;
  }
}

void StepGroups::MeasureWindows() {
  const Steps& steps = view_.steps();
  std::vector<std::vector<uint32_t>> of_process(steps.processes.size());
  for (const uint32_t i : selected_.steps_at_any_time()) {
    of_process[steps.steps[i].process].push_back(i);
  }
  for (const std::vector<uint32_t>& some : of_process) {
    VisitPieces(CutSteps(steps.steps, some), [&](uint32_t step, Interval piece) {
      if (step != kNoStep) {
        windows_[group_of_[step]].span_ns += Coverage(Clip(selected_.time_of_all_steps(), piece));
      }
    });
  }
}

size_t StepGroups::Of(uint32_t step) const {
  return std::min(step == kNoStep ? no_step_ : group_of_[step], size());
}

bool StepGroups::MayUse(size_t group, std::span<const uint32_t> tracks) const {
  const Steps& steps = view_.steps();
  return steps.processes.size() == 1 ||
         std::any_of(tracks.begin(), tracks.end(), [&](uint32_t track) {
           return steps.process_of[track] == kAnyProcess ||
                  steps.process_of[track] == processes_[group];
         });
}

std::vector<DeviceStep> DeviceStepsOf(const RankView& view, const Selected& selected,
                                      const StepGroups& groups, const DeviceTime& time) {
  return DeviceStepper(view, selected, groups, time).Measure();
}

namespace {

// Steps before the recording, of which only what the device had still to do was recorded. Their
// work has no launch, and its step is inferred from what it is like.

struct InheritedStepRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  int64_t step = 0;
  std::optional<int64_t> length_ns = {};
  int64_t busy_ns = 0;
  int64_t kernels = 0;
  int64_t copies = 0;
  int64_t device_begin_ns = 0;
  int64_t device_end_ns = 0;
  bool complete = false;

  static constexpr TableNames kTable{
      "inherited_steps", "Steps before the recording, as far as devices worked on them"};
  static constexpr ColumnOf<InheritedStepRow> kColumns[] = {
      {"rank", &InheritedStepRow::rank, Role::kKey, kRankDoc},
      {"gpu", &InheritedStepRow::gpu, Role::kKey, kGpuDoc},
      {"step", &InheritedStepRow::step, Role::kKey,
       "Number of the step, inferred from what its work is like."},
      {"length_ns", &InheritedStepRow::length_ns, Unit::kNanoseconds, Role::kSum,
       "From the last end of work of the step before to its own; missing where that was not "
       "recorded, or the step is not complete."},
      {"busy_ns", &InheritedStepRow::busy_ns, Unit::kNanoseconds, Role::kSum,
       "Time in which work of the step runs (union)."},
      {"kernels", &InheritedStepRow::kernels, Unit::kCount, Role::kSum,
       "Selected kernels of the step."},
      {"copies", &InheritedStepRow::copies, Unit::kCount, Role::kSum,
       "Selected memcpys and memsets of the step."},
      {"device_begin_ns", &InheritedStepRow::device_begin_ns, Unit::kNanoseconds, Role::kMin,
       "First begin of its recorded work on the device."},
      {"device_end_ns", &InheritedStepRow::device_end_ns, Unit::kNanoseconds, Role::kMax,
       "Last end of its work."},
      {"complete", &InheritedStepRow::complete, Role::kDerived,
       "Whether the recording has all of its work on the device: what is like the first and the "
       "last work of a recorded step."}};
};

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
    if (!aligned_->IsConfident() || aligned_->step.empty() || selected_.has_steps()) {
      return NewTable<InheritedStepRow>();
    }
    FindEndsOfSteps();
    Collect();
    std::vector<InheritedStepRow> rows;
    rows.reserve(steps_.size());
    for (const auto& [place, step] : steps_) {
      rows.push_back({.rank = view_.rank,
                      .gpu = place.first,
                      .step = place.second,
                      .length_ns = Recorded(LengthOf(place, step)),
                      .busy_ns = Coverage(Union(step.times)),
                      .kernels = step.kernels,
                      .copies = step.copies,
                      .device_begin_ns = BeginOf(step),
                      .device_end_ns = EndOf(step),
                      .complete = step.has_first && step.has_last});
    }
    return MakeTable(rows);
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
    for (const uint32_t row : EachRow(device.size())) {
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
    for (const uint32_t row : EachRow(device.size())) {
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
