// HTA's overlay_critical_path_analysis.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/path_overlay.h"
#include "borescope/compat/hta/critical_path/critical_path.h"
#include "borescope/compat/hta/tables.h"

namespace borescope::internal {
namespace {

constexpr int64_t kMicrosecond = 1000;

struct Times {
  int64_t ts_ns;
  int64_t dur_ns;
};

Times TimesOf(const Trace& trace, const HtaEvent& event) {
  return event.is_host()
             ? Times{trace.host().ts_ns[event.host.value], trace.host().dur_ns[event.host.value]}
             : Times{trace.device().ts_ns[event.device.value],
                     trace.device().dur_ns[event.device.value]};
}

// Ends on the device lie a microsecond before the end of the event, and all in whole microseconds,
// so that viewers tie the arrow to it.
OverlayArrow::End EndOf(const HtaCriticalPath& critical, CriticalNodeId id) {
  const CriticalNode& node = critical.graph().nodes()[id];
  const HtaEvent& event = critical.events()[node.event];
  const Times times = TimesOf(critical.events().trace(), event);
  int64_t ts_ns = times.ts_ns;
  if (!node.is_start) {
    ts_ns += times.dur_ns - (event.is_host() ? 0 : std::min(kMicrosecond, times.dur_ns));
  }
  return {event.pid, event.tid, ts_ns / kMicrosecond * kMicrosecond};
}

bool IsDrawn(CriticalKind kind) {
  return kind == CriticalKind::kDependency || kind == CriticalKind::kLaunchDelay ||
         kind == CriticalKind::kSync;
}

void AddArrow(const HtaCriticalPath& critical, const CriticalEdge& edge, bool is_critical,
              OverlayArrows& arrows) {
  arrows.arrows.push_back({EndOf(critical, edge.from), EndOf(critical, edge.to),
                           static_cast<uint32_t>(edge.kind), static_cast<double>(edge.weight_us),
                           is_critical});
}

// All edges but the launches without a weight.
void AddAllArrows(const HtaCriticalPath& critical, OverlayArrows& arrows) {
  std::vector<CriticalNodeId> next(critical.graph().nodes().size(), kNoCriticalNode);
  for (const CriticalEdge& edge : critical.path()) {
    next[edge.from] = edge.to;
  }
  for (const CriticalEdge& edge : critical.graph().edges()) {
    if (edge.kind != CriticalKind::kLaunchDelay || edge.weight_us != 0) {
      AddArrow(critical, edge, next[edge.from] == edge.to, arrows);
    }
  }
}

OverlayArrows ArrowsOf(const HtaCriticalPath& critical, bool all) {
  OverlayArrows arrows;
  arrows.name = "critical_path";
  for (size_t kind = 0; kind < kCriticalKinds; ++kind) {
    arrows.types.emplace_back(HtaCriticalKindName(static_cast<CriticalKind>(kind)));
  }
  if (all) {
    AddAllArrows(critical, arrows);
    return arrows;
  }
  for (const CriticalEdge& edge : critical.path()) {
    if (IsDrawn(edge.kind)) {
      AddArrow(critical, edge, true, arrows);
    }
  }
  return arrows;
}

}  // namespace

Result<Overlay> OverlayHtaCriticalPath(const RankView& view, const Params& params) {
  BS_ASSIGN(const PathOverlayOptions options, PathOverlayOptions::From(params));
  BS_ASSIGN(const auto critical, HtaCriticalPath::Make(view, params));
  Overlay overlay;
  overlay.arrows = ArrowsOf(*critical, options.all_edges);
  std::vector<uint32_t> positions;
  for (const HtaEventRow row : critical->PathEvents()) {
    positions.push_back(critical->events()[row].position);
  }
  overlay.marks = MarkPath(std::move(positions), options);
  return overlay;
}

}  // namespace borescope::internal
