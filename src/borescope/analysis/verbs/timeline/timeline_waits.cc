#include "borescope/analysis/verbs/timeline/timeline_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/verbs/timeline/timeline_data.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

// Of one in a page, with what there is of its row and of the few texts: more would take the page
// from what was recorded.
constexpr int64_t kBytesOfWait = 16;
// Shorter ones are no waiting that anybody looks for.
constexpr int64_t kLeastWaitNs = 1000;

// A stretch of one rank, on the clock of its file.
struct WaitSpan {
  int64_t begin_ns = 0;
  int64_t length_ns = 0;
  std::string name;
  Tone tone = Tone::kSync;
};

using SpansOfRanks = std::map<int64_t, std::vector<WaitSpan>>;

// Whether all ranks met, directly or by others, on clocks that can be compared.
bool HaveOneClock(const WaitRun& run) {
  return std::all_of(run.clocks.ranks.begin(), run.clocks.ranks.end(), [&](const RankClock& clock) {
    return clock.verdict != RankClockVerdict::kNoMeetings &&
           clock.verdict != RankClockVerdict::kNotComparable &&
           clock.component == run.clocks.ranks.front().component;
  });
}

// By rank, when each recording begins on the clock of all; none where there is no such clock.
std::map<int64_t, int64_t> BeginsInLine(const WaitRun& run,
                                        const std::vector<Timeline>& timelines) {
  std::map<int64_t, int64_t> begins;
  if (!HaveOneClock(run)) {
    return begins;
  }
  std::map<int64_t, int64_t> offset_of;
  for (size_t place = 0; place < run.ranks.size(); ++place) {
    offset_of[run.ranks[place]] = run.clocks.ranks[place].offset_ns;
  }
  for (const Timeline& timeline : timelines) {
    const auto offset = offset_of.find(timeline.rank);
    if (offset == offset_of.end()) {
      return {};
    }
    begins[timeline.rank] = AddSaturating(timeline.clock_begin_ns, offset->second);
  }
  return begins;
}

// Moves timelines whose times count from the begin of the first to those on the clock of all.
void AlignTimelines(const WaitRun& run, std::vector<Timeline>& timelines) {
  const std::map<int64_t, int64_t> begins = BeginsInLine(run, timelines);
  if (begins.empty()) {
    return;
  }
  const int64_t first_ns =
      std::min_element(begins.begin(), begins.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->second;
  for (Timeline& timeline : timelines) {
    const int64_t before_ns = timeline.shift_ns;
    const int64_t shift_ns = SubtractSaturating(begins.at(timeline.rank), first_ns);
    ShiftTimeline(SubtractSaturating(shift_ns, before_ns), timeline);
    timeline.shift_ns = shift_ns;
  }
}

// "allreduce", as the first rank has it.
std::string CollectiveName(const WaitCollective& collective, const CollectiveKeys& keys) {
  const std::string& name = keys.Text(collective.key_row, "collective");
  return name.empty() ? "a collective" : name;
}

void AddSpansOf(const WaitRun& run, const WaitCollective& collective, const CollectiveKeys& keys,
                SpansOfRanks& spans) {
  const std::span<const WaitCall> calls = run.CallsOf(collective);
  const WaitCall& last = calls[collective.last.last];
  const std::string name = CollectiveName(collective, keys);
  const std::string whom = collective.last.is_certain
                               ? fmt::format("waits for rank {}: {}", run.ranks[last.rank], name)
                               : fmt::format("waits, nobody is last for certain: {}", name);
  for (const WaitCall& call : calls) {
    if (call.parts.skew_ns >= kLeastWaitNs) {
      spans[run.ranks[call.rank]].push_back({AddSaturating(run.base_ns[call.rank], call.begin_ns),
                                             call.parts.skew_ns, whom, Tone::kSync});
    }
  }
  const int64_t late_ns = collective.last.spread_ns;
  if (collective.last.is_certain && late_ns >= kLeastWaitNs) {
    const int64_t enters_ns = AddSaturating(run.base_ns[last.rank], last.begin_ns);
    spans[run.ranks[last.rank]].push_back(
        {SubtractSaturating(enters_ns, late_ns), late_ns,
         fmt::format("{} {} for it: {}", calls.size() - 1,
                     calls.size() == 2 ? "rank waits" : "ranks wait", name),
         Tone::kTail});
  }
}

// Keeps the longest of a rank, by time.
void KeepLongestWaits(size_t most, std::vector<WaitSpan>& spans) {
  if (spans.size() > most) {
    std::stable_sort(spans.begin(), spans.end(), [](const WaitSpan& a, const WaitSpan& b) {
      return a.length_ns > b.length_ns;
    });
    spans.resize(most);
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const WaitSpan& a, const WaitSpan& b) { return a.begin_ns < b.begin_ns; });
}

// A row of the coarsest level, which has all of the recording: these boxes are never merged.
void AddRow(const std::vector<WaitSpan>& spans, Timeline& timeline) {
  const int64_t level = timeline.levels.back().level;
  const auto track = static_cast<int64_t>(timeline.tracks.size());
  DrawnTrack drawn{.role = TrackRole::kWait, .name = "waiting", .depths = 1};
  const int64_t origin_ns = SubtractSaturating(timeline.clock_begin_ns, timeline.shift_ns);
  for (const WaitSpan& span : spans) {
    DrawnBox box;
    box.track = track;
    box.level = level;
    box.begin_ns = std::max<int64_t>(0, SubtractSaturating(span.begin_ns, origin_ns));
    box.duration_ns = span.length_ns;
    box.busy_ns = span.length_ns;
    box.name = timeline.texts.Intern(span.name);
    box.tone = span.tone;
    timeline.boxes.push_back(box);
    ++drawn.events;
    AddSaturatingTo(drawn.busy_ns, span.tone == Tone::kSync ? span.length_ns : 0);
  }
  timeline.tracks.push_back(std::move(drawn));
}

}  // namespace

void AddWaits(const Tables& waits, int64_t exit_skew_ns, int64_t size, Tables& timeline) {
  const WaitTables tables(waits);
  const CollectiveKeys keys(tables.keys);
  WaitRun run = MakeWaitRun(tables, keys, exit_skew_ns);
  if (run.collectives.empty()) {
    return;
  }
  DivideCollectives(tables, run);
  std::vector<Timeline> timelines = ShiftedTimelines(timeline);
  AlignTimelines(run, timelines);
  SpansOfRanks spans;
  for (const WaitCollective& collective : run.collectives) {
    CheckStop();
    if (collective.is_selected && !collective.is_contradicted && collective.count > 1) {
      AddSpansOf(run, collective, keys, spans);
    }
  }
  const auto most = static_cast<size_t>(BytesForWaits(size) / kBytesOfWait);
  for (Timeline& one : timelines) {
    std::vector<WaitSpan>& own = spans[one.rank];
    if (!own.empty() && !one.levels.empty() && one.levels.back().level > 0) {
      KeepLongestWaits(std::max<size_t>(1, most / timelines.size()), own);
      AddRow(own, one);
      MeasureLevels(one);
    }
  }
  timeline = TimelineTables(std::move(timelines));
}

}  // namespace borescope::internal
