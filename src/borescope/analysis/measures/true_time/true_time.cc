#include "borescope/analysis/measures/true_time/true_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

constexpr size_t kLeastPairs = 200;
constexpr int64_t kLongCallNs = 100'000;
constexpr int64_t kMicrosecondNs = 1000;
// For times in whole microseconds the mean of the middle half is used, which is larger than the
// median by this factor.
constexpr double kRoundedFactor = 0.9;

// The mean of the middle half.
double MiddleMean(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  const size_t begin = values.size() / 4;
  const size_t end = values.size() - begin;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    sum += static_cast<double>(values[i]);
  }
  return sum / static_cast<double>(end - begin);
}

class PaceMeter {
 public:
  explicit PaceMeter(const RankView& view) : view_(view), host_(view.trace.host()) {}

  HostPace Measure() {
    FindChildren();
    CollectGaps();
    CollectLaunches();
    HostPace pace;
    pace.is_rounded = IsRounded();
    pace.first_pairs = first_ns_.size();
    pace.last_pairs = last_ns_.size();
    pace.first_ns = Middle(first_ns_, pace.is_rounded);
    pace.last_ns = Middle(last_ns_, pace.is_rounded);
    pace.launch_ns = launch_ns_.empty() ? 0 : Quantile(launch_ns_, 0.5);
    return pace;
  }

 private:
  static double Middle(std::vector<int64_t>& values, bool is_rounded) {
    return values.empty() ? 0
           : is_rounded   ? kRoundedFactor * MiddleMean(values)
                          : Quantile(values, 0.5);
  }

  bool Counts(uint32_t row) const {
    const HostKind kind = host_.kind[row];
    return kind == HostKind::kOp || kind == HostKind::kAnnotation || kind == HostKind::kRuntime;
  }

  // Rows are in preorder, so the children of an event come in the order of their begins.
  void FindChildren() {
    around_.assign(host_.size(), HostId{});
    first_.assign(host_.size(), HostId{});
    last_.assign(host_.size(), HostId{});
    for (const uint32_t row : EachRow(host_.size())) {
      const HostId parent = view_.index.tree.parent[row];
      if (parent.valid()) {
        around_[row] = Counts(parent.value) ? parent : around_[parent.value];
      }
      const HostId around = around_[row];
      if (around.valid() && Counts(row)) {
        last_[around.value] = HostId{row};
        first_[around.value] = first_[around.value].valid() ? first_[around.value] : HostId{row};
      }
    }
  }

  void CollectGaps() {
    for (const uint32_t row : EachRow(host_.size())) {
      if (host_.kind[row] != HostKind::kOp || !first_[row].valid()) {
        continue;
      }
      if (host_.kind[first_[row].value] == HostKind::kOp) {
        first_ns_.push_back(host_.ts_ns[first_[row].value] - host_.ts_ns[row]);
      }
      const int64_t last_ns = host_.end_ns(HostId{row}) - host_.end_ns(last_[row]);
      if (host_.kind[last_[row].value] == HostKind::kOp && last_ns >= 0) {
        last_ns_.push_back(last_ns);
      }
    }
  }

  void CollectLaunches() {
    for (const uint32_t row : EachRow(host_.size())) {
      if (host_.kind[row] == HostKind::kRuntime && host_.detail[row] != kNoDetail &&
          host_.dur_ns[row] < kLongCallNs &&
          !view_.index.correlation.DevicesOf(host_.detail[row]).empty()) {
        launch_ns_.push_back(host_.dur_ns[row]);
      }
    }
  }

  bool IsRounded() const {
    for (uint32_t row = 0; row < host_.size(); ++row) {
      if (host_.ts_ns[row] % kMicrosecondNs != 0 || host_.dur_ns[row] % kMicrosecondNs != 0) {
        return false;
      }
    }
    return true;
  }

  const RankView& view_;
  const HostEvents& host_;
  std::vector<HostId> around_;  // per row: the innermost event around it that counts
  std::vector<HostId> first_;   // per row: its first child that counts
  std::vector<HostId> last_;
  std::vector<int64_t> first_ns_, last_ns_, launch_ns_;
};

}  // namespace

std::optional<double> HostPace::operator_ns() const {
  return std::min(first_pairs, last_pairs) < kLeastPairs ? std::nullopt
                                                         : std::optional(first_ns + last_ns);
}

HostPace MeasurePace(const RankView& view) { return PaceMeter(view).Measure(); }

ReplayedGaps::ReplayedGaps(const RankView& view, const ReplayGraph& graph,
                           const std::vector<int64_t>& base)
    : graph_(graph), launch_(view.trace.device().size(), kNoPlace) {
  std::map<int64_t, std::vector<DeviceId>> by_device;
  const EventGraph& events = graph.recording.graph;
  for (const uint32_t row : EachRow(launch_.size())) {
    const DeviceId id{row};
    if (!graph.IsWork(id)) {
      continue;
    }
    by_device[view.trace.DeviceOf(id)].push_back(id);
    const Place start = graph.StartOf(id);
    for (uint32_t edge = graph.first_edge[start]; edge < graph.first_edge[start + 1]; ++edge) {
      if (events.side[graph.node[graph.source[edge]]] == NodeSide::kHost) {
        launch_[row] = graph.source[edge];
      }
    }
  }
  for (auto& [gpu, works] : by_device) {
    of_devices_.push_back(std::move(works));
  }
  base_ = GapsIn(base);
}

std::vector<ReplayedGaps::Gap> ReplayedGaps::GapsIn(const std::vector<int64_t>& times) const {
  std::vector<Gap> gaps(launch_.size());
  for (std::vector<DeviceId> works : of_devices_) {
    std::sort(works.begin(), works.end(), [&](DeviceId a, DeviceId b) {
      return std::pair(times[graph_.StartOf(a)], a.value) <
             std::pair(times[graph_.StartOf(b)], b.value);
    });
    int64_t busy_until_ns = works.empty() ? 0 : times[graph_.StartOf(works.front())];
    for (const DeviceId id : works) {
      const int64_t start_ns = times[graph_.StartOf(id)];
      if (start_ns > busy_until_ns && launch_[id.value] != kNoPlace) {
        const int64_t launch_ns = std::clamp(times[launch_[id.value]], busy_until_ns, start_ns);
        gaps[id.value] = {launch_ns - busy_until_ns, start_ns - launch_ns};
      }
      busy_until_ns = std::max(busy_until_ns, times[graph_.EndOf(id)]);
    }
  }
  return gaps;
}

GapTimes ReplayedGaps::ShorterIn(const std::vector<int64_t>& times) const {
  const std::vector<Gap> gaps = GapsIn(times);
  GapTimes shorter;
  for (size_t row = 0; row < gaps.size(); ++row) {
    int64_t& late_ns =
        base_[row].late_ns > kOrdinaryLaunchNs ? shorter.long_late_ns : shorter.short_late_ns;
    AddSaturatingTo(late_ns, base_[row].late_ns - gaps[row].late_ns);
    AddSaturatingTo(shorter.latency_ns, base_[row].latency_ns - gaps[row].latency_ns);
  }
  return shorter;
}

namespace {

// The costs of recording: least, estimate and most. Those of operators, annotations and frames of
// Python are multiples of the pace of operators, those of calls that start device work multiples of
// the usual length of such a call. Measured on an H100 with PyTorch 2.11 and on a processor with
// 2.15.
constexpr std::array<double, 3> kOperatorCosts = {0.7, 1.05, 1.3};
constexpr std::array<double, 3> kRoundedOperatorCosts = {0.5, 1.05, 1.6};
constexpr std::array<double, 3> kLaunchCosts = {0.4, 0.7, 0.9};
constexpr std::array<double, 3> kCallCosts = {0, 0.4, 0.8};
constexpr std::array<double, 3> kFrameCosts = {0.2, 0.6, 1.2};
// Recording a launch takes at most this part of the call; for other calls, half a microsecond more.
constexpr double kMostOfLaunch = 0.8;
constexpr double kMostOfCall = 0.5;
constexpr double kBesideCallNs = 500;
// No stretch of a thread is shortened by more than this part; the rest is taken off the next
// stretch.
constexpr double kMostOfStretch = 0.9;
constexpr double kObservedPaceNs = 8000;
constexpr double kWorthCorrecting = 1.05;
constexpr double kMostSpread = 0.1;
constexpr size_t kLeastSteps = 2;
// The limits of a given step, relative to the busy time of the device and to the recorded step.
constexpr double kLeastOfDevice = 0.97;
constexpr double kMostOfRecorded = 1.1;
constexpr double kMostFactor = 3;
constexpr int kFactorPasses = 12;  // accurate to a thousandth
constexpr std::string_view kNeedsSteps =
    "the recording has no steps: `step_pattern` names annotations that are steps";

class CostTaker {
 public:
  CostTaker(const RankView& view, const ReplayModel& model, const HostPace& pace, CostLevel level,
            double factor)
      : view_(view),
        host_(view.trace.host()),
        model_(model),
        pace_(pace),
        level_(static_cast<size_t>(level)),
        factor_(factor),
        operator_ns_(pace.operator_ns().value_or(0)) {}

  ReplayLags Take() {
    lags_ = model_.lags;
    const RecordingGraph& recording = model_.graph.recording;
    for (size_t thread = 0; thread < recording.facts.threads.size(); ++thread) {
      TakeFromThread(thread);
    }
    return std::move(lags_);
  }

 private:
  void TakeFromThread(size_t thread) {
    const RecordingGraph& recording = model_.graph.recording;
    node_ = recording.first_node[thread];
    end_node_ = recording.end_node[thread];
    debt_ns_ = 0;
    if (node_ == end_node_) {
      return;
    }
    SweepThread(
        view_.trace, recording.facts, recording.facts.threads[thread], [](const ThreadPiece&) {},
        [&](HostId id, bool is_end, int64_t at_ns) {
          PayUntil(at_ns);
          debt_ns_ += factor_ * CostOf(id, is_end);
        });
    PayUntil(std::numeric_limits<int64_t>::max());
  }

  // Shortens the stretches that end before `at_ns`.
  void PayUntil(int64_t at_ns) {
    const ReplayGraph& graph = model_.graph;
    while (node_ + 1 < end_node_ && graph.recording.graph.ts_ns[node_ + 1] < at_ns) {
      ++node_;
      const uint32_t edge = graph.ThreadEdgeInto(graph.place_of[node_]);
      if (edge != kNoEdge) {
        const double taken_ns =
            std::min(debt_ns_, kMostOfStretch * static_cast<double>(lags_.ns[edge]));
        lags_.ns[edge] -= static_cast<int64_t>(taken_ns);
        debt_ns_ -= taken_ns;
      }
    }
  }

  double CostOf(HostId id, bool is_end) const {
    const double before = operator_ns_ == 0 ? 0 : pace_.first_ns / operator_ns_;
    switch (host_.kind[id.value]) {
      case HostKind::kOp:
      case HostKind::kAnnotation: {
        const auto& costs = pace_.is_rounded ? kRoundedOperatorCosts : kOperatorCosts;
        return costs[level_] * operator_ns_ * (is_end ? 1 - before : before);
      }
      case HostKind::kPython:
        return kFrameCosts[level_] * operator_ns_ / 2;
      case HostKind::kRuntime:
        return is_end ? CostOfCall(id) : 0;
      case HostKind::kOther:
        return 0;
    }
    return 0;
  }

  double CostOfCall(HostId id) const {
    const auto length_ns = static_cast<double>(host_.dur_ns[id.value]);
    const uint32_t detail = host_.detail[id.value];
    const bool starts_work =
        detail != kNoDetail && !view_.index.correlation.DevicesOf(detail).empty();
    return starts_work ? std::min(kLaunchCosts[level_] * pace_.launch_ns, kMostOfLaunch * length_ns)
                       : std::min(kCallCosts[level_] * operator_ns_,
                                  kMostOfCall * length_ns + kBesideCallNs);
  }

  const RankView& view_;
  const HostEvents& host_;
  const ReplayModel& model_;
  const HostPace& pace_;
  const size_t level_;
  const double factor_;
  const double operator_ns_;
  ReplayLags lags_;
  NodeId node_ = 0;
  NodeId end_node_ = 0;
  double debt_ns_ = 0;  // of the current thread: the cost that is not taken off yet
};

int64_t Middle(std::vector<int64_t> lengths) { return std::llround(Quantile(lengths, 0.5)); }

// How much the time of a program differs when it is measured again on the same host: 9 % in the
// median of 14 programs.
constexpr double kNoiseOfOneTime = 0.1;

// The time of a step as the user measured it: between two times, or about a single one.
struct PlainStep {
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  bool is_single = false;

  int64_t middle_ns() const { return first_ns + (last_ns - first_ns) / 2; }
  int64_t low_ns() const { return first_ns - noise_ns(); }
  int64_t high_ns() const { return AddSaturating(last_ns, noise_ns()); }

 private:
  int64_t noise_ns() const {
    return is_single ? std::llround(kNoiseOfOneTime * static_cast<double>(first_ns)) : 0;
  }
};

std::optional<PlainStep> PlainStepOf(const Params& params) {
  if (params.Text(kPlainStepParam).empty()) {
    return std::nullopt;
  }
  const std::vector<int64_t> times = params.Times(kPlainStepParam);
  return PlainStep{times.front(), times.back(), times.size() == 1};
}

class TrueTimer {
 public:
  TrueTimer(const RankView& view, const Params& params)
      : view_(view), params_(params), given_(PlainStepOf(params)) {
    found_.is_given = given_.has_value();
  }

  TrueTimes Find() {
    found_.status = TrueTimeStatus::kNoSteps;
    if (view_.steps().steps.size() < LeastSteps()) {
      found_.fault = given_ ? std::string(kNeedsSteps) : std::string();
      return found_;
    }
    found_.pace = MeasurePace(view_);
    const std::optional<double> operator_ns = found_.pace.operator_ns();
    has_pace_ = operator_ns && *operator_ns <= kObservedPaceNs;
    if (!has_pace_ && !given_) {
      found_.status = operator_ns ? TrueTimeStatus::kOtherObserver : TrueTimeStatus::kNoPace;
      return found_;
    }
    const std::shared_ptr<const Result<ReplayModel>> model = SharedReplayModel(view_, params_);
    if (!model->ok() || (*model)->graph.stretches.size() < LeastSteps()) {
      found_.fault = given_ ? std::string(kNeedsSteps) : std::string();
      return found_;
    }
    found_.identity = (*model)->quality.identity();
    FindLengths(**model);
    return found_;
  }

 private:
  // With a given step, one recorded step is enough.
  size_t LeastSteps() const { return given_ ? 1 : kLeastSteps; }

  void FindLengths(const ReplayModel& model) {
    const std::vector<int64_t> recorded = AskedLengths(model, MeasuredTimes(model.graph));
    if (recorded.size() < LeastSteps()) {
      return;
    }
    MeasureDevices(recorded);
    if (given_) {
      TakeGiven(model, recorded);
      return;
    }
    found_.status = TrueTimeStatus::kRefused;
    if (model.quality.verdict == ReplayVerdict::kRefused) {
      return;
    }
    std::array<int64_t, 3> step_ns{};
    std::array<std::vector<int64_t>, 3> times;
    for (const CostLevel level : {CostLevel::kLeast, CostLevel::kEstimate, CostLevel::kMost}) {
      const auto at = static_cast<size_t>(level);
      Replay(model.graph, LagsWithoutRecording(view_, model, found_.pace, level), times[at]);
      step_ns[at] = Middle(AskedLengths(model, times[at]));
    }
    const double spread = SpreadOf(recorded);
    for (TrueTime& time : found_.devices) {
      SetEstimates(step_ns, spread, time);
    }
    const int64_t recorded_ns = Sum(recorded);
    for (size_t level = 0; level < times.size(); ++level) {
      const double part = level == 0 ? 1 + spread : level == 1 ? 1 : 1 - spread;
      AddShorter(level, recorded_ns,
                 std::llround(part * static_cast<double>(Sum(AskedLengths(model, times[level])))));
    }
    SetStatus(recorded_ns);
    if (found_.shorter_ns[static_cast<size_t>(CostLevel::kMost)] > 0) {
      const ReplayedGaps gaps(view_, model.graph, model.times);
      found_.estimated_gaps = gaps.ShorterIn(times[static_cast<size_t>(CostLevel::kEstimate)]);
      found_.most_gaps = gaps.ShorterIn(times[static_cast<size_t>(CostLevel::kMost)]);
    }
  }

  static int64_t Sum(const std::vector<int64_t>& lengths) {
    int64_t sum_ns = 0;
    for (const int64_t ns : lengths) {
      AddSaturatingTo(sum_ns, ns);
    }
    return sum_ns;
  }

  static int64_t AllStepsOf(const TrueTime& time, int64_t step_ns) {
    return std::min(step_ns, kLongestLagNs / std::max<int64_t>(time.steps, 1)) * time.steps;
  }

  // Adds the difference over all steps, none of which gets shorter than the busy time of the
  // device.
  void AddShorter(size_t level, int64_t recorded_ns, int64_t level_ns) {
    for (const TrueTime& time : found_.devices) {
      const int64_t least_ns = AllStepsOf(time, time.device_ns);
      AddSaturatingTo(found_.shorter_ns[level],
                      std::max<int64_t>(0, recorded_ns - std::max(least_ns, level_ns)));
    }
  }

  // Sets the status by the cost in all steps together, or in the median step.
  void SetStatus(int64_t recorded_ns) {
    const auto all_ns =
        static_cast<double>(recorded_ns) * static_cast<double>(found_.devices.size());
    const auto shorter_ns =
        static_cast<double>(found_.shorter_ns[static_cast<size_t>(CostLevel::kEstimate)]);
    const bool is_much =
        all_ns > kWorthCorrecting * (all_ns - shorter_ns) ||
        std::any_of(found_.devices.begin(), found_.devices.end(), [](const TrueTime& time) {
          return static_cast<double>(time.recorded_ns) >=
                 kWorthCorrecting * static_cast<double>(time.estimate_ns);
        });
    found_.status = is_much ? TrueTimeStatus::kCorrected : TrueTimeStatus::kSmall;
  }

  // Replaces the estimate by the given step, or reports why that cannot be right.
  void TakeGiven(const ReplayModel& model, const std::vector<int64_t>& recorded) {
    for (TrueTime& time : found_.devices) {
      const auto device_ns = static_cast<double>(time.device_ns);
      const auto recorded_ns = static_cast<double>(time.recorded_ns);
      if (static_cast<double>(given_->first_ns) < kLeastOfDevice * device_ns) {
        found_.fault = fmt::format("the device alone is busy for {} in each step of this recording",
                                   FormatTime(time.device_ns));
      } else if (static_cast<double>(given_->last_ns) > kMostOfRecorded * recorded_ns) {
        found_.fault = fmt::format(
            "a step would take longer without the profiler than in this recording ({}): of another "
            "program, another input or a busy machine",
            FormatTime(time.recorded_ns));
      }
      time.estimate_ns = std::max(time.device_ns, given_->middle_ns());
      time.low_ns = std::max(time.device_ns, given_->low_ns());
      time.high_ns = std::max(time.device_ns, given_->high_ns());
    }
    AddGiven(recorded);
    SetStatus(Sum(recorded));
    if (found_.fault.empty() && has_pace_ && model.quality.verdict != ReplayVerdict::kRefused) {
      found_.factor = FactorFor(model, given_->middle_ns());
      DivideGiven(model);
    }
  }

  // The steps together, which may be shorter or longer than as many of the median one: without the
  // profiler each takes what was given.
  void AddGiven(const std::vector<int64_t>& recorded) {
    const int64_t recorded_ns = Sum(recorded);
    const auto add = [&](CostLevel level, const TrueTime& time, int64_t step_ns) {
      AddSaturatingTo(found_.shorter_ns[static_cast<size_t>(level)],
                      std::max<int64_t>(0, recorded_ns - AllStepsOf(time, step_ns)));
    };
    for (const TrueTime& time : found_.devices) {
      add(CostLevel::kLeast, time, time.high_ns);
      add(CostLevel::kEstimate, time, time.estimate_ns);
      add(CostLevel::kMost, time, time.low_ns);
    }
  }

  void DivideGiven(const ReplayModel& model) {
    const ReplayLags lags =
        LagsWithoutRecording(view_, model, found_.pace, CostLevel::kEstimate, *found_.factor);
    found_.estimated_gaps =
        ReplayedGaps(view_, model.graph, model.times).ShorterIn(Replay(model.graph, lags));
    found_.most_gaps = found_.estimated_gaps;
  }

  // The smallest factor of all costs with which the replay takes `step_ns`, or its shortest time if
  // the device is the limit. A difference of a thousandth counts as equal.
  double FactorFor(const ReplayModel& model, int64_t step_ns) const {
    const auto length = [&](double factor) {
      const ReplayLags lags =
          LagsWithoutRecording(view_, model, found_.pace, CostLevel::kEstimate, factor);
      return Middle(AskedLengths(model, Replay(model.graph, lags)));
    };
    const int64_t least_ns = std::max(step_ns, length(kMostFactor));
    const int64_t enough_ns = least_ns + least_ns / 1000;
    if (Middle(AskedLengths(model, model.times)) <= enough_ns) {
      return 0;
    }
    double low = 0;
    double high = kMostFactor;
    for (int pass = 0; pass < kFactorPasses; ++pass) {
      const double middle = (low + high) / 2;
      (length(middle) <= enough_ns ? high : low) = middle;
    }
    return high;
  }

  static std::vector<int64_t> AskedLengths(const ReplayModel& model,
                                           const std::vector<int64_t>& times) {
    const std::vector<int64_t> all = StretchTimes(model.graph, times);
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < all.size(); ++i) {
      if (model.graph.stretches[i].is_asked) {
        lengths.push_back(all[i]);
      }
    }
    return lengths;
  }

  // Measures the busy time of each step within the rate window.
  void MeasureDevices(const std::vector<int64_t>& recorded) {
    Selection whole = params_.selection;
    whole.steps = {};
    const Result<Selected> selected = Selected::Make(view_, whole);
    const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view_);
    const auto steps = static_cast<int64_t>(recorded.size());
    if (selected.ok()) {
      const SharedDeviceTimes times = DeviceTimes(view_, *selected, PerTrack::kGpu);
      for (const DeviceTime& time : *times) {
        const IntervalSet window = inherited->RateWindow(time.gpu, selected->windows());
        const int64_t busy_ns = SplitTime(time, window).busy_ns;
        found_.devices.push_back({.gpu = time.gpu,
                                  .steps = steps,
                                  .recorded_ns = Middle(recorded),
                                  .device_ns = busy_ns / AllSteps()});
      }
    }
  }

  int64_t AllSteps() const { return static_cast<int64_t>(view_.steps().steps.size()); }

  // How far the median of the lengths may be off, as a share.
  static double SpreadOf(std::vector<int64_t> lengths) {
    const double middle = Quantile(lengths, 0.5);
    const double spread = (Quantile(lengths, 0.9) - Quantile(lengths, 0.1)) / 2 /
                          std::sqrt(static_cast<double>(lengths.size()));
    return middle > 0 ? std::min(spread / middle, kMostSpread) : 0;
  }

  static void SetEstimates(const std::array<int64_t, 3>& step_ns, double spread, TrueTime& time) {
    const auto times = [](int64_t ns, double factor) {
      return std::llround(static_cast<double>(ns) * factor);
    };
    time.estimate_ns = std::max(time.device_ns, step_ns[1]);
    time.low_ns = std::max<int64_t>(time.device_ns, times(step_ns[2], 1 - spread));
    time.high_ns =
        std::min<int64_t>(times(time.recorded_ns, 1 + spread),
                          std::max<int64_t>(time.device_ns, times(step_ns[0], 1 + spread)));
    time.low_ns = std::min(time.low_ns, time.estimate_ns);
    time.high_ns = std::max(time.high_ns, time.estimate_ns);
  }

  const RankView& view_;
  const Params& params_;
  const std::optional<PlainStep> given_;
  bool has_pace_ = false;
  TrueTimes found_;
};

Table MakeTrueTimeTable() {
  Table table{"true_time", "Steps without the profiler", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
  };
  const auto share = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kShare, Role::kDerived, doc);
  };
  AddRankKey(table);
  AddGpuKeyOrNone(table);
  AddInt(table, "steps", Unit::kCount, Role::kDerived, "Number of steps.");
  ns("recorded_ns", "The median length of a step as recorded, from completion to completion.");
  ns("estimate_ns", "About how long it takes without the profiler.");
  ns("low_ns", "The least that it may take.");
  ns("high_ns", "The most that it may take.");
  ns("device_ns", "Busy time of the device, by step: no step is shorter.");
  share("idle_share", "Part of a recorded step in which the device idles.");
  share("idle_estimate", "The same without the profiler.");
  share("idle_low", "The least that it may be.");
  share("idle_high", "The most that it may be.");
  AddString(table, "status", Role::kDerived,
            "corrected; small: recording costs less than 5 % of steps; no pace: too few operators "
            "call others; other observer: something else slows every operator, too; refused: the "
            "replay does not represent the recording (whatif says why).");
  ns("pace_ns", "What recording an operator costs, from the times of operators around others.");
  ns("launch_ns", "The usual length of a call that starts device work.");
  AddString(table, "cost_source", Role::kDerived,
            "recording: the cost of recording is estimated from the recording's own times; "
            "plain-step: from the given step, which then is the estimate.");
  AddFloat(table, "factor", Unit::kNone, Role::kDerived,
           "The factor of the usual costs that results in the given step; below 0.4 or above 2 "
           "something other than recording made the difference.");
  share("identity_share", "Error of the replay without changes.");
  return table;
}

void PushTrueTime(Table& table, const RankView& view, const TrueTimes& times,
                  const TrueTime& time) {
  const auto if_known = [&](int64_t ns) { return times.has_estimates() ? ns : kMissing; };
  Row row(table);
  row.Int(view.rank).MaybeInt(time.gpu).Int(time.steps).Int(time.recorded_ns);
  row.MaybeInt(if_known(time.estimate_ns)).MaybeInt(if_known(time.low_ns));
  row.MaybeInt(if_known(time.high_ns)).Int(time.device_ns);
  row.Float(time.IdleShareOf(time.recorded_ns));
  for (const int64_t step_ns : {time.estimate_ns, time.low_ns, time.high_ns}) {
    times.has_estimates() ? row.Float(time.IdleShareOf(step_ns)) : row.Missing();
  }
  row.Text(TrueTimeStatusName(times.status));
  const std::optional<double> pace_ns = times.pace.operator_ns();
  row.MaybeInt(pace_ns ? std::llround(*pace_ns) : kMissing).Int(std::llround(times.pace.launch_ns));
  row.Text(times.is_given ? "plain-step" : "recording");
  times.factor ? row.Float(*times.factor) : row.Missing();
  row.Float(times.identity);
}

}  // namespace

Result<Table> TrueTimeTable(const RankView& view, const Params& params) {
  const std::shared_ptr<const TrueTimes> times = SharedTrueTimes(view, params);
  if (!times->fault.empty()) {
    const bool lacks_steps = times->fault == kNeedsSteps;
    return Error{
        .code = lacks_steps ? ErrorCode::kMissingData : ErrorCode::kInvalidArgument,
        .cause = fmt::format("`plain_step` {}: {}", params.Text(kPlainStepParam), times->fault),
        .file = view.trace.meta().file,
        .parameter = "plain_step"};
  }
  Table table = MakeTrueTimeTable();
  for (const TrueTime& time : times->devices) {
    PushTrueTime(table, view, *times, time);
  }
  return table;
}

Table EmptyTrueTimeTable() { return MakeTrueTimeTable(); }

Table CostOfGapsTable(const RankView& view, const TrueTimes& times) {
  Table table{"cost_of_gaps", "Idle time that recording caused", {}};
  AddRankKey(table);
  for (const std::string_view level : {"least_ns", "estimate_ns", "most_ns"}) {
    AddInt(table, level, Unit::kNanoseconds, Role::kSum,
           "By how much steps are shorter without the cost of recording; 0 where it is not known.");
  }
  for (const std::string_view level : {"", "most_"}) {
    for (const std::string_view part : {"long_late_ns", "short_late_ns", "latency_ns"}) {
      AddInt(table, fmt::format("{}{}", level, part), Unit::kNanoseconds, Role::kSum,
             "By how much gaps of devices are shorter without the cost of recording.");
    }
  }
  Row row(table);
  row.Int(view.rank);
  const bool counts = times.is_given || times.has_estimates();
  for (const int64_t ns : times.shorter_ns) {
    row.Int(counts ? ns : 0);
  }
  for (const GapTimes& gaps : {times.estimated_gaps, times.most_gaps}) {
    row.Int(gaps.long_late_ns).Int(gaps.short_late_ns).Int(gaps.latency_ns);
  }
  return table;
}

std::string_view TrueTimeStatusName(TrueTimeStatus status) {
  switch (status) {
    case TrueTimeStatus::kCorrected:
      return "corrected";
    case TrueTimeStatus::kSmall:
      return "small";
    case TrueTimeStatus::kNoPace:
      return "no pace";
    case TrueTimeStatus::kOtherObserver:
      return "other observer";
    case TrueTimeStatus::kRefused:
      return "refused";
    case TrueTimeStatus::kNoSteps:
      return "no steps";
  }
  return "";
}

double TrueTime::IdleShareOf(int64_t step_ns) const {
  return step_ns <= 0
             ? 0
             : 1 - static_cast<double>(std::min(device_ns, step_ns)) / static_cast<double>(step_ns);
}

ReplayLags LagsWithoutRecording(const RankView& view, const ReplayModel& model,
                                const HostPace& pace, CostLevel level, double factor) {
  return CostTaker(view, model, pace, level, factor).Take();
}

std::shared_ptr<const TrueTimes> SharedTrueTimes(const RankView& view, const Params& params) {
  return view.Shared<TrueTimes>([&] { return TrueTimer(view, params).Find(); });
}

// The recording as replayed without the profiler, which scenarios change with --without-recording
// or --plain-step.

namespace {

// A type for the shared measure, which differs from the model of the recording itself.
struct ModelWithoutRecording {
  int unused = 0;
};

bool TakesCostOff(const Params& params) {
  return params.Flag(kWithoutRecordingParam) || !params.Text(kPlainStepParam).empty();
}

std::string_view WhyUnknown(const TrueTimes& times) {
  return times.status == TrueTimeStatus::kNoSteps ? "it has fewer than two steps"
         : !times.pace.operator_ns()              ? "too few of its operators call others"
         : times.status == TrueTimeStatus::kOtherObserver
             ? "something else than the profiler slows each of its operators"
             : "its replay does not represent it";
}

// Half of the distance between the limits of a step; the largest one if there are several devices.
int64_t DoubtOf(const TrueTimes& times) {
  int64_t doubt_ns = 0;
  for (const TrueTime& time : times.devices) {
    doubt_ns = std::max(doubt_ns, (time.high_ns - time.low_ns) / 2);
  }
  return doubt_ns;
}

Result<ReplayModel> Make(const RankView& view, const Params& params) {
  const std::shared_ptr<const TrueTimes> times = SharedTrueTimes(view, params);
  const std::shared_ptr<const Result<ReplayModel>> recorded = SharedReplayModel(view, params);
  if (!recorded->ok()) {
    return recorded->error();
  }
  if (times->is_given ? !times->factor.has_value() : !times->has_estimates()) {
    return Error{
        ErrorCode::kMissingData,
        fmt::format("{}: what recording costs is not known, as {}",
                    times->is_given ? "`plain_step`" : "`without_recording`", WhyUnknown(*times)),
        {},
        view.trace.meta().file};
  }
  ReplayModel model = **recorded;
  model.lags = LagsWithoutRecording(view, model, times->pace, CostLevel::kEstimate,
                                    times->factor.value_or(1));
  model.times = Replay(model.graph, model.lags);
  model.doubt_ns = DoubtOf(*times);
  return model;
}

}  // namespace

Result<void> CheckTrueTimeParams(std::string_view verb, const Params& params) {
  const std::string_view given = params.Text(kPlainStepParam);
  if (!given.empty() && std::count(given.begin(), given.end(), ',') > 1) {
    return UsageError(
        fmt::format("{}: `plain_step` {}: give one time, or two that it is between", verb, given),
        {}, "plain_step");
  }
  const Selection& selection = params.selection;
  const bool has_others = !selection.gpus.empty() || !selection.streams.empty() ||
                          !selection.annotation.empty() || !selection.range.is_open();
  return TakesCostOff(params) && has_others
             ? UsageError(fmt::format("{}: {} replays whole recordings", verb,
                                      given.empty() ? "`without_recording`" : "`plain_step`"),
                          "choose steps, with `step` or `step_pattern`")
             : Result<void>();
}

std::shared_ptr<const Result<ReplayModel>> SharedScenarioModel(const RankView& view,
                                                               const Params& params) {
  return TakesCostOff(params)
             ? view.Shared<ModelWithoutRecording>([&] { return Make(view, params); })
             : SharedReplayModel(view, params);
}

}  // namespace borescope::internal
