#include "borescope/analysis/measures/replay/replay_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

// How much later than the launch another condition must have been met to count as the deciding one.
constexpr int64_t kClearNs = 5'000;
constexpr size_t kDroppedPer = 50;  // of so many cases the largest one is left out

struct UsualLag {
  int64_t assumed_ns;
  int64_t cap_ns;
};

// Usual values of devices of the last ten years, for recordings with too few cases of their own.
constexpr UsualLag UsualLagOf(LagKind kind) {
  switch (kind) {
    case LagKind::kLaunch:
      return {6'000, 60'000};
    case LagKind::kStream:
      return {1'200, 20'000};
    case LagKind::kGraph:
      return {1'000, 20'000};
    case LagKind::kEvent:
      return {2'000, 20'000};
    case LagKind::kWait:
      return {6'000, 100'000};
    case LagKind::kQueue:
      return {2'000, 100'000};
    case LagKind::kCall:
      return {3'000, 20'000};
  }
  return {0, 0};
}

using Cases = std::vector<int64_t>;

LagConstant Summarise(Cases& cases, LagKind kind) {
  std::sort(cases.begin(), cases.end());
  const size_t kept = cases.size() - cases.size() / kDroppedPer;
  int64_t sum = 0;
  for (size_t i = 0; i < kept; ++i) {
    sum += std::min(cases[i], UsualLagOf(kind).cap_ns);
  }
  LagConstant constant;
  constant.cases = static_cast<int64_t>(cases.size());
  constant.lag_ns = kept == 0 ? 0 : sum / static_cast<int64_t>(kept);
  if (kind == LagKind::kCall && !cases.empty()) {
    constant.lag_ns = std::min(cases[cases.size() / 10], UsualLagOf(kind).cap_ns);
  }
  constant.spread_ns = cases.empty() ? 0 : cases[cases.size() * 9 / 10] - cases[cases.size() / 10];
  constant.source = LagSource::kMeasured;
  return constant;
}

class LagFitter {
 public:
  LagFitter(const RankView& view, const ReplayGraph& graph,
            const std::function<bool(Place)>& counts, size_t least)
      : view_(view), graph_(graph), least_(least), cases_(graph.classes.size()) {
    counts_.reserve(graph.places());
    for (Place place = 0; place < graph.places(); ++place) {
      counts_.push_back(counts(place) ? 1 : 0);
    }
  }

  std::vector<LagConstant> Fit() {
    for (Place place = 0; place < graph_.places(); ++place) {
      CheckStopAt(place);
      if (counts_[place] != 0) {
        CollectLaunch(place);
      }
    }
    for (const LagClassId id : AllClasses()) {
      if (graph_.classes.Key(id).kind == LagKind::kLaunch) {
        launch_ns_.push_back(Constant(id).lag_ns);
      } else {
        launch_ns_.push_back(0);
      }
    }
    for (Place place = 0; place < graph_.places(); ++place) {
      CheckStopAt(place);
      if (counts_[place] != 0) {
        CollectOthers(place);
      }
    }
    CollectCalls();
    of_kind_.clear();
    std::vector<LagConstant> constants;
    for (const LagClassId id : AllClasses()) {
      constants.push_back(Constant(id));
    }
    return constants;
  }

 private:
  // The latest condition of one kind, and the latest of all other kinds.
  struct Latest {
    int64_t ns = kMissing;
    uint32_t edge = kNoEdge;

    void Take(int64_t candidate_ns, uint32_t candidate) {
      if (candidate_ns > ns) {
        ns = candidate_ns;
        edge = candidate;
      }
    }
  };

  std::vector<LagClassId> AllClasses() const {
    std::vector<LagClassId> ids(cases_.size());
    std::iota(ids.begin(), ids.end(), LagClassId{0});
    return ids;
  }

  LagKind KindOf(uint32_t edge) const { return graph_.classes.Key(graph_.lag_class[edge]).kind; }

  void CollectLaunch(Place place) {
    Latest launch;
    Latest other;
    for (uint32_t edge = graph_.first_edge[place]; edge < graph_.first_edge[place + 1]; ++edge) {
      if (graph_.lag_class[edge] == kOwnLag) {
        continue;
      }
      const bool is_launch = KindOf(edge) == LagKind::kLaunch;
      (is_launch ? launch : other).Take(graph_.ts_ns[graph_.source[edge]], edge);
    }
    if (launch.edge != kNoEdge && other.ns <= launch.ns) {
      Keep(launch.edge, graph_.ts_ns[place] - launch.ns);
    }
  }

  void CollectOthers(Place place) {
    Latest latest;
    int64_t launched_ns = kMissing;
    for (uint32_t edge = graph_.first_edge[place]; edge < graph_.first_edge[place + 1]; ++edge) {
      const LagClassId id = graph_.lag_class[edge];
      const int64_t source_ns = graph_.ts_ns[graph_.source[edge]];
      if (id == kOwnLag || KindOf(edge) == LagKind::kCall) {
        continue;
      }
      if (KindOf(edge) == LagKind::kLaunch) {
        launched_ns = std::max(launched_ns, source_ns + launch_ns_[id]);
      } else {
        latest.Take(source_ns, edge);
      }
    }
    if (latest.edge != kNoEdge && HasDecided(place, latest, launched_ns)) {
      Keep(latest.edge, graph_.ts_ns[place] - latest.ns);
    }
  }

  bool HasDecided(Place place, const Latest& latest, int64_t launched_ns) const {
    switch (KindOf(latest.edge)) {
      case LagKind::kStream:
      case LagKind::kGraph:
      case LagKind::kEvent:
        return launched_ns == kMissing || latest.ns >= launched_ns + kClearNs;
      case LagKind::kWait:
      case LagKind::kQueue: {
        // The place is the end of a call.
        const uint32_t call = graph_.recording.graph.event[graph_.node[place]];
        return (graph_.recording.facts.marks[call] & kMarkWaits) != 0 &&
               latest.ns > view_.trace.host().ts_ns[call];
      }
      default:
        return true;
    }
  }

  // Collects calls of the same names that had nothing to wait for.
  void CollectCalls() {
    std::vector<LagClassId> class_of(view_.trace.strings().size(), kOwnLag);
    for (const LagClassId id : AllClasses()) {
      if (graph_.classes.Key(id).kind == LagKind::kCall) {
        class_of[graph_.classes.Key(id).call.value] = id;
      }
    }
    const HostEvents& host = view_.trace.host();
    for (const uint32_t row : EachRow(host.size())) {
      const LagClassId id = class_of[host.name[row].value];
      if (id != kOwnLag && host.kind[row] == HostKind::kRuntime &&
          (graph_.recording.facts.marks[row] & kMarkWaits) == 0) {
        cases_[id].push_back(host.dur_ns[row]);
      }
    }
  }

  void Keep(uint32_t edge, int64_t ns) { cases_[graph_.lag_class[edge]].push_back(ns); }

  LagConstant Constant(LagClassId id) {
    const LagKind kind = graph_.classes.Key(id).kind;
    if (cases_[id].size() >= least_) {
      return Summarise(cases_[id], kind);
    }
    LagConstant constant = OfKind(kind);
    constant.cases = static_cast<int64_t>(cases_[id].size());
    return constant;
  }

  // The constant from all cases of a kind. Not for calls, which have little in common.
  const LagConstant& OfKind(LagKind kind) {
    const auto [found, is_new] = of_kind_.try_emplace(kind);
    if (is_new) {
      Cases all;
      for (const LagClassId id : AllClasses()) {
        CheckStopAt(id);
        if (graph_.classes.Key(id).kind == kind && kind != LagKind::kCall) {
          all.insert(all.end(), cases_[id].begin(), cases_[id].end());
        }
      }
      found->second = Summarise(all, kind);
      found->second.source = LagSource::kKind;
      if (all.size() < least_) {
        found->second.lag_ns = UsualLagOf(kind).assumed_ns;
        found->second.source = LagSource::kAssumed;
      }
    }
    return found->second;
  }

  const RankView& view_;
  const ReplayGraph& graph_;
  std::vector<char> counts_;  // per place
  const size_t least_;
  std::map<LagKind, LagConstant> of_kind_;  // emptied when cases are added
  std::vector<Cases> cases_;                // per class
  std::vector<int64_t> launch_ns_;          // per class of launches
};

}  // namespace

std::string_view LagSourceName(LagSource source) {
  switch (source) {
    case LagSource::kMeasured:
      return "measured";
    case LagSource::kKind:
      return "similar";
    case LagSource::kAssumed:
      return "assumed";
  }
  return "";
}

std::vector<LagConstant> FitLags(const RankView& view, const ReplayGraph& graph,
                                 const std::function<bool(Place)>& counts, size_t least) {
  return LagFitter(view, graph, counts, least).Fit();
}

std::vector<int64_t> LagValues(const std::vector<LagConstant>& constants) {
  std::vector<int64_t> values;
  values.reserve(constants.size());
  for (const LagConstant& constant : constants) {
    values.push_back(constant.lag_ns);
  }
  return values;
}

namespace {

// A single wait of a fifth of the recording or more, in the first hundredth of its work, belongs to
// the start of the profiler and not to the program.
constexpr int64_t kHeadPer = 5;
constexpr size_t kFirstPer = 100;
constexpr size_t kLargestWaits = 3;
// With at least this many steps, constants are fitted on some and tested on the others.
constexpr size_t kStepsToHoldOut = 4;
constexpr int64_t kParts = 100;  // parts into which a recording with fewer steps is divided

class ModelMaker {
 public:
  ModelMaker(const RankView& view, std::string_view data_load) : view_(view) {
    model_.graph = BuildReplayGraph(view, data_load);
    measured_ = MeasuredTimes(model_.graph);
  }

  ReplayModel Make() {
    model_.constants = FitLags(view_, model_.graph, [](Place) { return true; });
    SetTimes();
    SkipHead();
    ReplayQuality& quality = model_.quality;
    quality.measured_ns = TotalTime(model_.graph, measured_);
    quality.replayed_ns = TotalTime(model_.graph, model_.times);
    SetMeasuredLags(model_.graph, other_lags_);
    quality.exact_ns = TotalTime(model_.graph, OtherTimes()) - quality.measured_ns;
    SetLags(model_.graph, std::vector<int64_t>(model_.graph.classes.size(), 0), other_lags_);
    quality.null_ns = TotalTime(model_.graph, OtherTimes());
    HoldOut();
    FindUnexplained();
    FindAnchored();
    CountInferred();
    const SyncEdges& syncs = model_.graph.recording.syncs;
    quality.impossible = static_cast<int64_t>(syncs.backward);
    quality.waits = static_cast<int64_t>(syncs.edges.size()) + quality.impossible;
    quality.verdict = Judge();
    return std::move(model_);
  }

 private:
  void SetTimes() {
    SetLags(model_.graph, LagValues(model_.constants), model_.lags);
    Replay(model_.graph, model_.lags, model_.times);
  }

  // The times of a replay with the other lags; valid until the next call.
  const std::vector<int64_t>& OtherTimes() {
    Replay(model_.graph, other_lags_, other_times_);
    return other_times_;
  }

  // How much later work began than its known dependencies explain.
  int64_t UnexplainedAt(Place place) const {
    const ReplayGraph& graph = model_.graph;
    int64_t ready_ns = 0;
    for (uint32_t edge = graph.first_edge[place]; edge < graph.first_edge[place + 1]; ++edge) {
      ready_ns = std::max(ready_ns, measured_[graph.source[edge]] + model_.lags.ns[edge]);
    }
    return std::max(measured_[place] - ready_ns, int64_t{0});
  }

  bool IsStartOfWork(Place place) const {
    const EventGraph& events = model_.graph.recording.graph;
    const NodeId node = model_.graph.node[place];
    return events.side[node] == NodeSide::kDevice &&
           model_.graph.recording.start_of_work[events.event[node]] == node;
  }

  // Skips the start of the profiler, with which a recording without steps begins.
  void SkipHead() {
    ReplayGraph& graph = model_.graph;
    std::vector<Place> starts;
    for (Place place = 0; place < graph.places(); ++place) {
      if (IsStartOfWork(place) && measured_[place] >= measured_[graph.begin]) {
        starts.push_back(place);
      }
    }
    const size_t first = std::min(starts.size(), starts.size() / kFirstPer + 1);
    const int64_t limit_ns = TotalTime(graph, measured_) / kHeadPer;
    for (size_t i = 0; i < first; ++i) {
      const int64_t wait_ns = UnexplainedAt(starts[i]);
      if (wait_ns > 0 && wait_ns >= limit_ns) {
        model_.quality.head_ns = measured_[starts[i]] - measured_[graph.begin];
        Anchor(starts[i]);
        graph.begin = starts[i];
        graph.stretches.front().begin = starts[i];
        return;
      }
    }
  }

  // Makes a place happen as long after its dependencies as it was recorded.
  void Anchor(Place place) {
    ReplayGraph& graph = model_.graph;
    for (uint32_t edge = graph.first_edge[place]; edge < graph.first_edge[place + 1]; ++edge) {
      graph.lag_class[edge] = kOwnLag;
      graph.own_ns[edge] = measured_[place] - measured_[graph.source[edge]];
    }
    SetTimes();
  }

  // The stretch that a place was in when recorded.
  size_t StretchAt(Place place, const std::vector<int64_t>& ends) const {
    return static_cast<size_t>(std::lower_bound(ends.begin(), ends.end(), measured_[place]) -
                               ends.begin());
  }

  void HoldOut() {
    const ReplayGraph& graph = model_.graph;
    const std::vector<int64_t> lengths = StretchTimes(graph, measured_);
    const bool by_step = lengths.size() >= kStepsToHoldOut;
    std::vector<int64_t> ends;
    if (by_step) {
      int64_t end_ns = measured_[graph.begin];
      for (size_t i = 0; i < lengths.size(); ++i) {
        end_ns = std::max(end_ns, measured_[graph.stretches[i].begin]) + lengths[i];
        ends.push_back(end_ns);
      }
    } else {
      for (int64_t part = 1; part <= kParts; ++part) {
        ends.push_back(measured_[graph.begin] + model_.quality.measured_ns / kParts * part);
      }
    }
    const std::vector<LagConstant> constants = FitLags(
        view_, graph, [&](Place place) { return StretchAt(place, ends) % 2 == 1; },
        kLeastCases / 2);
    SetLags(graph, LagValues(constants), other_lags_);
    const std::vector<int64_t> replayed = StretchTimes(graph, OtherTimes());
    int64_t measured_ns = 0;
    int64_t replayed_ns = 0;
    for (size_t i = 0; i < lengths.size(); i += by_step ? 2 : 1) {
      measured_ns += lengths[i];
      replayed_ns += replayed[i];
    }
    if (measured_ns > 0) {
      model_.quality.held_out = ShareOf(replayed_ns - measured_ns, measured_ns);
    }
  }

  void AddDeviceTime(Place place) {
    const ReplayGraph& graph = model_.graph;
    const NodeId node = graph.node[place];
    if (graph.recording.graph.side[node] == NodeSide::kDevice && !IsStartOfWork(place)) {
      model_.quality.path_device_ns =
          AddSaturating(model_.quality.path_device_ns, graph.own_ns[graph.first_edge[place]]);
    }
  }

  void FindUnexplained() {
    std::vector<UnexplainedWait>& waits = model_.quality.largest_waits;
    for (const Place place : PathOfReplay(model_.graph, model_.lags, model_.times)) {
      AddDeviceTime(place);
      const int64_t ns = place == model_.graph.begin ? 0 : UnexplainedAt(place);
      model_.quality.unexplained_ns = AddSaturating(model_.quality.unexplained_ns, ns);
      if (ns > 0) {
        waits.push_back({model_.graph.node[place], ns});
      }
    }
    std::stable_sort(waits.begin(), waits.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
    waits.resize(std::min(waits.size(), kLargestWaits));
    for (UnexplainedWait& wait : waits) {
      wait.name = NameAt(wait.node);
    }
  }

  StringId NameAt(NodeId node) const {
    const EventGraph& events = model_.graph.recording.graph;
    return events.side[node] == NodeSide::kDevice ? view_.trace.device().name[events.event[node]]
                                                  : view_.trace.host().name[events.event[node]];
  }

  // Per track: whether the launches of the thread can move: those of main threads, and of threads
  // to which another thread hands over.
  std::vector<char> FindMovingThreads() const {
    std::vector<char> moves(view_.trace.tracks().size());
    const EventGraph& events = model_.graph.recording.graph;
    for (NodeId from = 0; from < events.nodes(); ++from) {
      for (EdgeId edge = events.first_edge[from]; edge < events.first_edge[from + 1]; ++edge) {
        if (events.kind[edge] == EdgeKind::kHandover) {
          moves[view_.trace.host().track[events.event[events.target[edge]]].value] = 1;
        }
      }
    }
    for (const ThreadFacts& thread : model_.graph.recording.facts.threads) {
      moves[thread.track.value] |= thread.is_main ? 1 : 0;
    }
    return moves;
  }

  void FindAnchored() {
    const std::vector<char> moves = FindMovingThreads();
    const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view_);
    const DeviceEvents& device = view_.trace.device();
    for (uint32_t row = 0; row < device.size(); ++row) {
      if (!model_.graph.IsWork({row})) {
        continue;
      }
      // Inherited work is at the start of the replay, and moves only with its stream.
      if (inherited->IsInherited({row})) {
        AddSaturatingTo(model_.quality.device_ns, device.dur_ns[row]);
        AddSaturatingTo(model_.quality.inherited_ns, device.dur_ns[row]);
        continue;
      }
      const HostId launch = view_.index.correlation.launch_of[row];
      const bool is_launched = model_.graph.is_launched[row] != 0;
      const bool can_move = is_launched && moves[view_.trace.host().track[launch.value].value] != 0;
      model_.quality.unlaunched_ns =
          AddSaturating(model_.quality.unlaunched_ns, is_launched ? 0 : device.dur_ns[row]);
      model_.quality.device_ns = AddSaturating(model_.quality.device_ns, device.dur_ns[row]);
      model_.quality.anchored_ns =
          AddSaturating(model_.quality.anchored_ns, can_move ? 0 : device.dur_ns[row]);
    }
  }

  void CountInferred() {
    for (const LagClassId id : model_.graph.lag_class) {
      model_.quality.inferred += id != kOwnLag && model_.graph.classes.Key(id).inferred ? 1 : 0;
    }
  }

  ReplayVerdict Judge() const {
    const ReplayQuality& quality = model_.quality;
    const auto keeps = [&](const VerdictLimits& limits) {
      return std::abs(quality.identity()) <= limits.identity &&
             quality.unexplained() <= limits.unexplained && quality.anchored() <= limits.anchored &&
             quality.impossible_share() <= limits.impossible;
    };
    if (quality.measured_ns <= 0 || quality.exact_ns != 0 || !keeps(kRoughReplay)) {
      return ReplayVerdict::kRefused;
    }
    const double null = std::abs(quality.null());
    const double identity = std::abs(quality.identity());
    if (quality.path_device() < kHostAlone &&
        (null < kLeastNull || null < kNullPerIdentity * identity)) {
      return ReplayVerdict::kUntested;
    }
    // The lags make the replay worse than no lags would.
    const bool misleads = identity > kLeastNull && null < identity;
    return keeps(kGoodReplay) && !misleads ? ReplayVerdict::kGood : ReplayVerdict::kRough;
  }

  const RankView& view_;
  ReplayModel model_;
  std::vector<int64_t> measured_;  // times per place
  // For replays that only measure how good the model is.
  ReplayLags other_lags_;
  std::vector<int64_t> other_times_;
};

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string AnchoredWords(const ReplayQuality& quality) {
  const double unlaunched = ShareOf(quality.unlaunched_ns, quality.device_ns);
  const double stuck = quality.anchored() - unlaunched;
  std::string words =
      unlaunched > 0 ? Percent(unlaunched) + " of the device time has no recorded launch" : "";
  if (stuck > 0) {
    words += (words.empty() ? "" : ", ") + Percent(stuck) +
             " was launched by threads that depend on nothing recorded";
  }
  return words;
}

std::string LargestWaits(const Trace& trace, const ReplayQuality& quality) {
  std::string text;
  for (const UnexplainedWait& wait : quality.largest_waits) {
    text += fmt::format("{}{:.3f} ms before {}", text.empty() ? " (" : ", ",
                        static_cast<double>(wait.ns) / 1e6, trace.Text(wait.name));
  }
  return text.empty() ? text : text + ")";
}

}  // namespace

std::string_view ReplayVerdictName(ReplayVerdict verdict) {
  switch (verdict) {
    case ReplayVerdict::kGood:
      return "good";
    case ReplayVerdict::kRough:
      return "rough";
    case ReplayVerdict::kUntested:
      return "untested";
    case ReplayVerdict::kRefused:
      return "refused";
  }
  return "";
}

double ReplayQuality::identity() const { return ShareOf(replayed_ns - measured_ns, measured_ns); }
double ReplayQuality::null() const { return ShareOf(null_ns - measured_ns, measured_ns); }
double ReplayQuality::path_device() const { return ShareOf(path_device_ns, replayed_ns); }
double ReplayQuality::unexplained() const { return ShareOf(unexplained_ns, measured_ns); }
double ReplayQuality::anchored() const { return ShareOf(anchored_ns, device_ns); }
double ReplayQuality::impossible_share() const { return ShareOf(impossible, waits); }
double ReplayQuality::error() const {
  return std::max(std::abs(identity()), std::abs(held_out.value_or(0)));
}

std::string CauseOf(const Trace& trace, const ReplayQuality& quality) {
  std::vector<std::string> causes;
  if (quality.exact_ns != 0) {
    causes.emplace_back("the graph does not reproduce the recording");
  }
  if (quality.measured_ns <= 0) {
    causes.emplace_back("nothing that takes time was recorded");
  }
  if (std::abs(quality.identity()) > kGoodReplay.identity) {
    causes.push_back("the replay is off by " + Percent(quality.identity()));
  }
  if (quality.unexplained() > kGoodReplay.unexplained) {
    causes.push_back(Percent(quality.unexplained()) + " are waits for what was not recorded" +
                     LargestWaits(trace, quality));
  }
  if (quality.anchored() > kGoodReplay.anchored) {
    causes.push_back(AnchoredWords(quality));
  }
  if (quality.impossible_share() > kGoodReplay.impossible) {
    causes.push_back(fmt::format("{} of {} waits end before the work that they wait for",
                                 quality.impossible, quality.waits));
  }
  if (causes.empty() && quality.verdict == ReplayVerdict::kUntested) {
    causes.emplace_back(
        "only host threads decide how long it takes, so nothing shows whether devices are replayed "
        "correctly");
  }
  if (causes.empty() && quality.verdict == ReplayVerdict::kRough) {
    causes.emplace_back("the replay would be nearer without any lags");
  }
  return fmt::format("{}", fmt::join(causes, "; "));
}

ReplayModel MakeReplayModel(const RankView& view, std::string_view data_load) {
  return ModelMaker(view, data_load).Make();
}

}  // namespace borescope::internal
