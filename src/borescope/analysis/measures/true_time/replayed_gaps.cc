#include "borescope/analysis/measures/true_time/replayed_gaps.h"

#include <algorithm>
#include <map>
#include <utility>

#include "borescope/analysis/measures/idle/idle_division.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

ReplayedGaps::ReplayedGaps(const RankView& view, const ReplayGraph& graph,
                           const std::vector<int64_t>& base)
    : graph_(graph), launch_(view.trace.device().size(), kNoPlace) {
  std::map<int64_t, std::vector<DeviceId>> by_device;
  const EventGraph& events = graph.recording.graph;
  for (uint32_t row = 0; row < launch_.size(); ++row) {
    CheckStopAt(row);
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

}  // namespace borescope::internal
