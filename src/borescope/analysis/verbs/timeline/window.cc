#include "borescope/analysis/verbs/timeline/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "borescope/analysis/core/selection/recorded_syncs.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// As many events are drawn as they are, whatever steps there are.
constexpr int64_t kFewEvents = 20'000;
constexpr size_t kStretches = 32;
constexpr int64_t kSlackParts = 10;  // of its length, on each side

int64_t CountEvents(const RankTracks& tracks) {
  int64_t events = 0;
  for (const EventTrack& track : tracks.events) {
    events += track.drawn.events;
  }
  for (const CounterTrack& track : tracks.counters) {
    events += track.drawn.events;
  }
  return events;
}

// A step that is drawn, from completion to completion.
struct DrawnStep {
  int64_t number = kMissing;
  Interval time;
};

// None without selected steps.
std::optional<DrawnStep> SlowestStep(const RankView& view, const Selected& selected) {
  constexpr size_t kFew = 3;  // of fewer the first counts, too
  const std::vector<uint32_t>& steps = selected.steps();
  if (steps.empty()) {
    return std::nullopt;
  }
  const std::vector<Interval> times = StepTimes(view, SharedClockedSyncs(view)->clocks);
  std::optional<DrawnStep> slowest;
  for (size_t i = steps.size() < kFew ? 0 : 1; i < steps.size(); ++i) {
    const Interval& time = times[steps[i]];
    if (!slowest || time.length() > slowest->time.length()) {
      slowest = {view.steps().steps[steps[i]].number, time};
    }
  }
  return slowest;
}

using Stretches = std::array<int64_t, kStretches>;

void AddWork(int64_t begin_ns, int64_t end_ns, int64_t length_ns, Stretches& work) {
  size_t stretch = std::min<size_t>(kStretches - 1, static_cast<size_t>(begin_ns / length_ns));
  for (; stretch < kStretches; ++stretch) {
    const int64_t first_ns = static_cast<int64_t>(stretch) * length_ns;
    const int64_t part_ns = std::min(end_ns, first_ns + length_ns) - std::max(begin_ns, first_ns);
    if (part_ns <= 0) {
      break;
    }
    AddSaturatingTo(work[stretch], part_ns);
  }
}

// How much of the work of streams or threads is in each stretch; of threads the outermost events.
Stretches WorkOf(const RankView& view, const RankTracks& tracks, TrackRole role,
                 int64_t length_ns) {
  Stretches work{};
  for (const EventTrack& track : tracks.events) {
    if (track.drawn.role != role) {
      continue;
    }
    const EventColumns columns = tracks.ColumnsOf(view.trace, track.side);
    for (uint32_t i = 0; i < track.depth_begin[1]; ++i) {
      CheckStopAt(i);
      const int64_t begin_ns = columns.begin_ns[track.rows[i]] - view.trace.begin_ns();
      AddWork(begin_ns, begin_ns + columns.dur_ns[track.rows[i]], length_ns, work);
    }
  }
  return work;
}

DrawnWindow WithSlack(int64_t begin_ns, int64_t end_ns, int64_t span_ns, std::string why) {
  const int64_t slack_ns = (end_ns - begin_ns) / kSlackParts;
  return {std::max<int64_t>(0, begin_ns - slack_ns), std::min(span_ns, end_ns + slack_ns),
          std::move(why)};
}

DrawnWindow BusiestStretch(const RankView& view, const RankTracks& tracks) {
  const int64_t span_ns = view.trace.span_ns();
  const int64_t length_ns = span_ns / static_cast<int64_t>(kStretches) + 1;
  for (const TrackRole role : {TrackRole::kStream, TrackRole::kThread}) {
    const Stretches work = WorkOf(view, tracks, role, length_ns);
    const auto* most = std::max_element(work.begin(), work.end());
    if (*most > 0) {
      const int64_t begin_ns = (most - work.begin()) * length_ns;
      return WithSlack(begin_ns, std::min(span_ns, begin_ns + length_ns), span_ns,
                       role == TrackRole::kStream ? "most device work" : "most work of threads");
    }
  }
  return {0, span_ns, "all"};
}

}  // namespace

DrawnWindow ChooseWindow(const RankView& view, const Selected& selected, const RankTracks& tracks) {
  if (CountEvents(tracks) <= kFewEvents) {
    return {0, view.trace.span_ns(), "all"};
  }
  const std::optional<DrawnStep> step = SlowestStep(view, selected);
  if (!step) {
    return BusiestStretch(view, tracks);
  }
  return WithSlack(step->time.begin - view.trace.begin_ns(), step->time.end - view.trace.begin_ns(),
                   view.trace.span_ns(), fmt::format("slowest step: {}", step->number));
}

}  // namespace borescope::internal
