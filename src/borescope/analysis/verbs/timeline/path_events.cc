// The critical path as a row of the timeline.
#include <array>
#include <memory>

#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/timeline/tracks.h"

namespace borescope::internal {
namespace {

// As the palette of causes has them.
constexpr std::array<Tone, static_cast<size_t>(BoundBy::kCount)> kToneOfCause = {
    Tone::kHost, Tone::kData, Tone::kHost, Tone::kDevice, Tone::kCompute,
    Tone::kComm, Tone::kCopy, Tone::kSync, Tone::kFaint};

StringId NameOfStep(const Trace& trace, const PathStep& step) {
  if (step.event == kNoEvent || step.side == NodeSide::kNone) {
    return BetweenEvents(trace);
  }
  return step.side == NodeSide::kHost ? trace.host().name[step.event]
                                      : trace.device().name[step.event];
}

}  // namespace

PathEvents FindPath(const RankView& view, const Selected& selected, const Params& params) {
  PathEvents path;
  if (view.trace.host().size() + view.trace.device().size() == 0) {
    return path;
  }
  const std::shared_ptr<const PathGraph> graph = SharedPathGraph(view, params);
  for (const PathStep& step : graph->StepsIn(view, graph->WindowsOf(view, selected))) {
    if (step.end_ns <= step.begin_ns) {
      continue;
    }
    path.begin_ns.push_back(step.begin_ns);
    path.dur_ns.push_back(step.end_ns - step.begin_ns);
    path.name.push_back(NameOfStep(view.trace, step));
    path.tone.push_back(kToneOfCause[static_cast<size_t>(step.bound_by)]);
    path.bound_by.push_back(BoundByName(step.bound_by));
    path.event.push_back(step.side == NodeSide::kNone ? kNoEvent : step.event);
    path.is_host.push_back(step.side == NodeSide::kHost ? 1 : 0);
  }
  return path;
}

}  // namespace borescope::internal
