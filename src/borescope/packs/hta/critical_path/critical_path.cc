#include "borescope/packs/hta/critical_path/critical_path.h"

#include <algorithm>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/hta/critical_path/critical_window.h"
#include "borescope/packs/hta/names.h"
#include "borescope/packs/hta/rows.h"

namespace borescope::internal {

HtaCriticalPath::HtaCriticalPath(const RankView& view, const Params& params)
    : frame_(view, HtaFrame::StepsOf(params)),
      events_(frame_),
      data_load_(params.Text(kDataLoadParam)) {}

Result<std::unique_ptr<HtaCriticalPath>> HtaCriticalPath::Make(const RankView& view,
                                                               const Params& params) {
  std::unique_ptr<HtaCriticalPath> made(new HtaCriticalPath(view, params));
  BS_ASSIGN(std::vector<HtaEventRow> window, HtaCriticalWindow(made->events_, params.selection));
  made->build_.emplace(made->events_, std::move(window), made->data_load_);
  CriticalBuild& build = *made->build_;
  AddLockEdges(build);
  AddStackEdges(build);
  BS_TRY(AddDeviceEdges(build, params.Flag(kFreeLaunchesParam)));
  if (!made->IsRefused()) {
    made->path_ = build.graph.LongestPath();
  }
  return made;
}

// Two works of a stream cannot wait for each other by events.
bool HtaCriticalPath::IsRefused() const {
  const std::vector<CriticalEdge>& edges = graph().edges();
  return std::any_of(edges.begin(), edges.end(), [&](const CriticalEdge& edge) {
    const int64_t stream = events_[EventOf(edge.from)].stream;
    return edge.kind == CriticalKind::kSync && stream != -1 &&
           stream == events_[EventOf(edge.to)].stream;
  });
}

std::vector<HtaEventRow> HtaCriticalPath::PathEvents() const {
  std::vector<HtaEventRow> rows;
  rows.reserve(2 * path_.size());
  for (const CriticalEdge& edge : path_) {
    rows.push_back(EventOf(edge.from));
    rows.push_back(EventOf(edge.to));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::string_view HtaCriticalPath::BoundBy(const CriticalEdge& edge) const {
  switch (edge.kind) {
    case CriticalKind::kKernelKernelDelay:
      return "gpu_kernel_kernel_overhead";
    case CriticalKind::kLaunchDelay:
      return "gpu_kernel_launch_overhead";
    case CriticalKind::kDependency:
    case CriticalKind::kSync:
      return "";
    case CriticalKind::kOperator:
      break;
  }
  if (edge.event == kNoHtaEvent) {  // between two calls outside of any operator
    return "cpu_bound";
  }
  const std::string name = HtaShortName(events_.NameOf(edge.event));
  if (events_[edge.event].stream < 0) {
    const bool loads = !data_load_.empty() && Contains(name, data_load_);
    return loads ? "data_loading" : "cpu_bound";
  }
  return HtaTypeOf(name) == HtaType::kCommunication ? "gpu_communication_bound"
                                                    : "gpu_compute_bound";
}

}  // namespace borescope::internal
