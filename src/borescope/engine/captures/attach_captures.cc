#include "borescope/engine/captures/attach_captures.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/captured_names.h"
#include "borescope/analysis/measures/graphs/graph_captures.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/engine/captures/captured_rows.h"

namespace borescope::internal {
namespace {

Result<GraphLaunches> LaunchesOf(const Trace& trace, const TraceIndex& index) {
  const RankView view{0, trace, index, 1};
  if (!HasGraphs(view)) return GraphLaunches{};
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  return FindGraphLaunches(view, everything);
}

std::vector<DeviceId> KernelsOf(const Trace& trace, std::span<const DeviceId> works) {
  std::vector<DeviceId> kernels;
  std::copy_if(works.begin(), works.end(), std::back_inserter(kernels),
               [&](DeviceId id) { return trace.device().kind[id.value] == DeviceKind::kKernel; });
  return kernels;
}

// What is known of one launch before rows are added.
struct Plan {
  HostId launch;
  std::vector<DeviceId> kernels;
  SequenceMatch match;
};

std::vector<Plan> PlansOf(const Trace& trace, const GraphLaunches& launches,
                          const CapturedGraphs& captured, CommonTexts& texts) {
  CaptureMatcher matcher(captured.sequences);
  std::vector<uint32_t> numbers(trace.strings().size(), kUnknownName);
  std::vector<Plan> plans;
  for (const GraphLaunch& launch : launches.launches) {
    Plan plan{launch.call, KernelsOf(trace, launches.WorksOf(launch)), {}};
    if (!launch.call.valid() || plan.kernels.empty()) continue;
    std::vector<uint32_t> names;
    for (const DeviceId id : plan.kernels) {
      uint32_t& number = numbers[trace.device().name[id.value].value];
      number = number == kUnknownName ? texts.Find(trace.Name(id)) : number;
      names.push_back(number);
    }
    plan.match = matcher.Match(names);
    plans.push_back(std::move(plan));
  }
  return plans;
}

void Attach(const Plan& plan, const CapturedGraphs& captured, std::span<const CaptureFile> files,
            CapturedRows& rows, TraceData& data) {
  const SequenceMatch& match = plan.match;
  CaptureMatch& result = data.captured.matches.emplace_back();
  result.launch = plan.launch;
  result.fit = match.fit;
  result.kernels = static_cast<uint32_t>(plan.kernels.size());
  result.file = data.strings.Intern("");
  if (match.fit == CaptureFit::kNone) return;
  const CapturedGraph& graph = captured.graphs[match.capture];
  result.has_arguments = match.has_arguments;
  result.file = data.strings.Intern(files[graph.file].name);
  result.capture = graph.number;
  result.tied = static_cast<uint32_t>(match.pairs.size());
  const std::vector<HostId>& calls =
      rows.Add(graph, match.capture, match.has_arguments, data.host.track[plan.launch.value]);
  for (const auto& [kernel, call] : match.pairs) {
    data.captured.call_of[plan.kernels[kernel].value] = calls[call];
  }
}

}  // namespace

Result<bool> ReplaysGraphs(const Trace& trace, const TraceIndex& index) {
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  return std::any_of(launches.works.begin(), launches.works.end(), [&](DeviceId id) {
    return trace.device().kind[id.value] == DeviceKind::kKernel;
  });
}

Result<bool> CapturesGraphs(const Trace& trace, const TraceIndex& index) {
  const RankView view{0, trace, index, 1};
  if (!HasGraphs(view)) return false;
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  const std::vector<GraphCapture> captures = FindGraphCaptures(view, everything);
  return std::any_of(captures.begin(), captures.end(),
                     [](const GraphCapture& capture) { return !capture.calls.empty(); });
}

Result<bool> OnlyCapturesGraphs(const Trace& trace, const TraceIndex& index) {
  BS_ASSIGN(const bool captures, CapturesGraphs(trace, index));
  if (!captures) return false;
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  return launches.works.empty();
}

Result<Trace> AttachCaptures(Trace trace, const TraceIndex& index,
                             std::span<const CaptureFile> files) {
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  if (launches.launches.empty()) return trace;
  CommonTexts texts;
  BS_ASSIGN(const CapturedGraphs captured, FindCapturedGraphs(files, texts));
  const std::vector<Plan> plans = PlansOf(trace, launches, captured, texts);
  TraceData data = std::move(trace).Take();
  data.captured.call_of.resize(data.device.size());
  CapturedRows rows(data, files);
  for (const Plan& plan : plans) {
    Attach(plan, captured, files, rows, data);
  }
  return Trace(std::move(data));
}

}  // namespace borescope::internal
