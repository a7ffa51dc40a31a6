#include "borescope/analysis/verbs/variance/step_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/recorded_syncs.h"
#include "borescope/analysis/measures/event_graph/build_graph.h"
#include "borescope/analysis/measures/path/path_graph.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr std::array<std::string_view, 3> kPartsNames = {"path", "breakdown", "ops"};

// The event that the time on the path is spent in; none for delays and unknown waits.
StringId NameOnPath(const Trace& trace, const PathStep& step) {
  const bool is_nobodys = step.event == kNoEvent || step.bound_by == BoundBy::kWait ||
                          step.bound_by == BoundBy::kBeforeRecording ||
                          (step.side == NodeSide::kDevice && step.kind != PathKind::kOperator);
  if (is_nobodys) {
    return {};
  }
  return step.side == NodeSide::kHost ? trace.host().name[step.event]
                                      : trace.device().name[step.event];
}

std::vector<StepPart> DividePath(const RankView& view, const PathGraph& graph,
                                 const StepSpans& spans) {
  PartSums sums(view, spans);
  const ColumnData<PathStep> path = graph.StepsIn(view, spans.Time());
  for (size_t i = 0; i < path.size(); ++i) {
    CheckStopAt(i);
    sums.AddTime({path[i].begin_ns, path[i].end_ns}, CauseOf(path[i].bound_by),
                 NameOnPath(view.trace, path[i]));
  }
  return sums.Finish();
}

DeviceClocks ClocksOf(const RankView& view) { return SharedClockedSyncs(view)->clocks; }

// All devices of the rank as one: computing where any of them computes.
DeviceTime AllDevices(const std::vector<DeviceTime>& times) {
  std::vector<Interval> compute;
  std::vector<Interval> comm;
  std::vector<Interval> busy;
  for (const DeviceTime& time : times) {
    compute.insert(compute.end(), time.compute.begin(), time.compute.end());
    comm.insert(comm.end(), time.comm.begin(), time.comm.end());
    busy.insert(busy.end(), time.busy.begin(), time.busy.end());
  }
  DeviceTime all;
  all.compute = Union(std::move(compute));
  all.comm = Union(std::move(comm));
  all.busy = Union(std::move(busy));
  all.exposed_comm = Subtract(all.comm, all.compute);
  all.exposed_copy = Subtract(all.busy, Union(all.compute, all.comm));
  return all;
}

void AddBreakdown(const RankView& view, const Selected& selected, const StepSpans& spans,
                  PartSums& sums) {
  const SharedDeviceTimes devices = DeviceTimes(view, selected, PerTrack::kGpu);
  const DeviceTime all = AllDevices(*devices);
  for (size_t i = 0; i < spans.pieces.size(); ++i) {
    CheckStopAt(i);
    const StepPiece& piece = spans.pieces[i];
    int64_t idle_ns = piece.time.length();
    const auto add = [&](PartCause cause, const IntervalSet& set) {
      const int64_t ns = Coverage(Clip(set, piece.time));
      sums.AddUnnamed(piece.span, cause, ns);
      idle_ns -= ns;
    };
    add(PartCause::kCompute, all.compute);
    add(PartCause::kExposedComm, all.exposed_comm);
    add(PartCause::kExposedCopy, all.exposed_copy);
    sums.AddUnnamed(piece.span, PartCause::kIdle, idle_ns);
  }
}

PartCause CauseOfHost(const RankView& view, HostId id) {
  if (!id.valid()) {
    return PartCause::kBetween;
  }
  switch (view.trace.host().kind[id.value]) {
    case HostKind::kPython:
      return PartCause::kPython;
    case HostKind::kAnnotation:
      return PartCause::kAnnotation;
    case HostKind::kOp:
      return PartCause::kOperator;
    case HostKind::kRuntime:
      return PartCause::kCall;
    case HostKind::kOther:
      break;
  }
  return PartCause::kBetween;
}

// What one thread did in the steps that it runs.
void AddThread(const RankView& view, const HostFacts& facts, TrackId thread,
               std::span<const StepPiece* const> pieces, PartSums& sums) {
  size_t next = 0;
  SweepThread(
      view.trace, facts, ThreadFacts{thread, true},
      [&](const ThreadPiece& host) {
        while (next < pieces.size() && pieces[next]->time.end <= host.begin_ns) {
          ++next;
        }
        for (size_t i = next; i < pieces.size() && pieces[i]->time.begin < host.end_ns; ++i) {
          const int64_t begin_ns = std::max(host.begin_ns, pieces[i]->time.begin);
          const int64_t end_ns = std::min(host.end_ns, pieces[i]->time.end);
          const StringId name =
              host.innermost.valid() ? view.trace.host().name[host.innermost.value] : StringId();
          sums.Add(pieces[i]->span, CauseOfHost(view, host.innermost), name, end_ns - begin_ns);
        }
      },
      [](HostId, bool, int64_t) {});
}

void AddOps(const RankView& view, const StepSpans& spans, PartSums& sums) {
  std::vector<const StepPiece*> pieces;
  pieces.reserve(spans.pieces.size());
  for (const StepPiece& piece : spans.pieces) {
    pieces.push_back(&piece);
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const StepPiece* a, const StepPiece* b) {
    return a->thread.value < b->thread.value;
  });
  HostFacts facts;
  facts.marks.assign(view.trace.host().size(), 0);
  facts.is_loading.assign(view.trace.strings().size(), 0);
  for (size_t begin = 0; begin < pieces.size();) {
    size_t end = begin;
    while (end < pieces.size() && pieces[end]->thread == pieces[begin]->thread) {
      ++end;
    }
    AddThread(view, facts, pieces[begin]->thread, std::span(pieces).subspan(begin, end - begin),
              sums);
    begin = end;
  }
}

}  // namespace

std::string_view PartsOfName(PartsOf parts) { return kPartsNames[static_cast<size_t>(parts)]; }

PartsOf ChooseParts(const RankView& view, std::string_view asked) {
  const auto* const found = std::find(kPartsNames.begin(), kPartsNames.end(), asked);
  if (found != kPartsNames.end()) {
    return static_cast<PartsOf>(found - kPartsNames.begin());
  }
  return HasNoWaits(view.trace) ? PartsOf::kBreakdown : PartsOf::kPath;
}

DividedSteps DivideSteps(const RankView& view, const Selected& selected, const NumberRanges& steps,
                         PartsOf parts, const Params& params) {
  DividedSteps divided;
  if (parts == PartsOf::kPath) {
    const std::shared_ptr<const PathGraph> graph = SharedPathGraph(view, params);
    divided.spans = FindStepSpans(view, steps, graph->recording.clocks);
    divided.parts = DividePath(view, *graph, divided.spans);
    return divided;
  }
  divided.spans = parts == PartsOf::kOps ? FindHostSpans(view, steps)
                                         : FindStepSpans(view, steps, ClocksOf(view));
  PartSums sums(view, divided.spans);
  if (parts == PartsOf::kBreakdown) {
    AddBreakdown(view, selected, divided.spans, sums);
  } else {
    AddOps(view, divided.spans, sums);
  }
  divided.parts = sums.Finish();
  return divided;
}

}  // namespace borescope::internal
