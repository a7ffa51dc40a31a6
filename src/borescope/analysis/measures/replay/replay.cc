#include "borescope/analysis/measures/replay/replay.h"

#include <algorithm>

#include "borescope/base/stop.h"

namespace borescope::internal {

void Replay(const ReplayGraph& graph, const ReplayLags& lags, std::vector<int64_t>& times) {
  times.resize(graph.places());
  auto added = lags.added.begin();
  for (Place place = 0; place < graph.places(); ++place) {
    CheckStopAt(place);
    const uint32_t end = graph.first_edge[place + 1];
    uint32_t edge = graph.first_edge[place];
    // What depends on nothing happens when it did.
    int64_t latest = edge == end ? graph.ts_ns[place] - graph.ts_ns[0] : 0;
    for (; edge < end; ++edge) {
      latest = std::max(latest, times[graph.source[edge]] + lags.ns[edge]);
    }
    for (; added != lags.added.end() && added->place == place; ++added) {
      latest = std::max(latest, times[added->source] + added->ns);
    }
    times[place] = std::min(latest, kLongestLagNs);
  }
}

std::vector<int64_t> Replay(const ReplayGraph& graph, const ReplayLags& lags) {
  std::vector<int64_t> times;
  Replay(graph, lags, times);
  return times;
}

void SetMeasuredLags(const ReplayGraph& graph, ReplayLags& lags) {
  lags.ns.resize(graph.edges());
  lags.added.clear();
  for (Place place = 0; place < graph.places(); ++place) {
    for (uint32_t edge = graph.first_edge[place]; edge < graph.first_edge[place + 1]; ++edge) {
      lags.ns[edge] = graph.ts_ns[place] - graph.ts_ns[graph.source[edge]];
    }
  }
}

void SetLags(const ReplayGraph& graph, const std::vector<int64_t>& lag_of_class, ReplayLags& lags) {
  lags.ns.resize(graph.edges());
  lags.added.clear();
  for (size_t edge = 0; edge < lags.ns.size(); ++edge) {
    const LagClassId id = graph.lag_class[edge];
    lags.ns[edge] = id == kOwnLag ? graph.own_ns[edge] : lag_of_class[id];
  }
}

std::vector<int64_t> StretchTimes(const ReplayGraph& graph, const std::vector<int64_t>& times) {
  std::vector<int64_t> lengths;
  int64_t done_ns = times[graph.begin];
  for (const ReplayStretch& stretch : graph.stretches) {
    const int64_t begin_ns = std::max(done_ns, times[stretch.begin]);
    done_ns = begin_ns;
    for (const Place place : stretch.done) {
      done_ns = std::max(done_ns, times[place]);
    }
    lengths.push_back(done_ns - begin_ns);
  }
  return lengths;
}

int64_t TotalTime(const ReplayGraph& graph, const std::vector<int64_t>& times) {
  int64_t total_ns = 0;
  for (const int64_t length : StretchTimes(graph, times)) {
    total_ns += length;
  }
  return total_ns;
}

std::vector<int64_t> MeasuredTimes(const ReplayGraph& graph) {
  std::vector<int64_t> times;
  times.reserve(graph.places());
  for (const int64_t ts_ns : graph.ts_ns) {
    times.push_back(ts_ns - graph.ts_ns[0]);
  }
  return times;
}

Decision DecisionAt(const ReplayGraph& graph, const ReplayLags& lags,
                    const std::vector<int64_t>& times, Place place) {
  for (uint32_t edge = graph.first_edge[place]; edge < graph.first_edge[place + 1]; ++edge) {
    if (times[graph.source[edge]] + lags.ns[edge] == times[place]) {
      return {graph.source[edge], edge};
    }
  }
  auto added = std::lower_bound(
      lags.added.begin(), lags.added.end(), place,
      [](const AddedDependency& dependency, Place at) { return dependency.place < at; });
  for (; added != lags.added.end() && added->place == place; ++added) {
    if (times[added->source] + added->ns == times[place]) {
      return {added->source, kNoEdge};
    }
  }
  return {};
}

Place LastDone(const ReplayGraph& graph, const std::vector<int64_t>& times) {
  Place place = kNoPlace;
  for (const ReplayStretch& stretch : graph.stretches) {
    for (const Place done : stretch.done) {
      place = place == kNoPlace || times[done] > times[place] ? done : place;
    }
  }
  return place;
}

std::vector<Place> PathOfReplay(const ReplayGraph& graph, const ReplayLags& lags,
                                const std::vector<int64_t>& times) {
  std::vector<Place> path;
  WalkPathOfReplay(graph, lags, times,
                   [&](Place place, const Decision&) { path.push_back(place); });
  return path;
}

}  // namespace borescope::internal
