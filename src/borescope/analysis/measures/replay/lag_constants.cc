#include "borescope/analysis/measures/replay/lag_constants.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// By how much a condition must have been met after the launch could have started the work, for it
// to have decided.
constexpr int64_t kClearNs = 5'000;
constexpr size_t kDroppedPer = 50;  // one in so many cases, the largest

struct UsualLag {
  int64_t assumed_ns;
  int64_t cap_ns;
};

// Microseconds as they are on devices of the last ten years; only where a recording has too few
// cases of its own.
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
  // The last of the conditions of one kind, and of all others.
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
        // The end of a call.
        const uint32_t call = graph_.recording.graph.event[graph_.node[place]];
        return (graph_.recording.facts.marks[call] & kMarkWaits) != 0 &&
               latest.ns > view_.trace.host().ts_ns[call];
      }
      default:
        return true;
    }
  }

  // Calls of the same names that had nothing to wait for.
  void CollectCalls() {
    std::vector<LagClassId> class_of(view_.trace.strings().size(), kOwnLag);
    for (const LagClassId id : AllClasses()) {
      if (graph_.classes.Key(id).kind == LagKind::kCall) {
        class_of[graph_.classes.Key(id).call.value] = id;
      }
    }
    const HostEvents& host = view_.trace.host();
    for (uint32_t row = 0; row < host.size(); ++row) {
      CheckStopAt(row);
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

  // Of all cases of a kind together. Calls have little in common.
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
  std::map<LagKind, LagConstant> of_kind_;  // emptied when cases were added
  std::vector<Cases> cases_;                // per class
  std::vector<int64_t> launch_ns_;          // per class: of launches
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

}  // namespace borescope::internal
