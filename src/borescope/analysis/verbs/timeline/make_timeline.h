// Makes the timeline of one rank from its tracks: level 0 has the events as they were recorded, the
// levels above it boxes in which short events near each other are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/timeline/tracks.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Level 0: events as they were recorded, with what is known of each.

// Numbers the texts of a trace that are drawn.
class DrawnTexts {
 public:
  DrawnTexts(const Trace& trace, StringPool& texts)
      : trace_(trace), texts_(texts), drawn_(trace.strings().size() + 1) {}

  // REQUIRES: a text of the trace, or BetweenEvents.
  StringId Of(StringId text) {
    StringId& drawn = drawn_[text.value];
    if (!drawn.valid()) {
      drawn = texts_.Intern(text == BetweenEvents(trace_) ? kBetweenEvents : trace_.Text(text));
    }
    return drawn;
  }
  // The number of any text; an empty one has none.
  StringId OfText(std::string_view text) { return text.empty() ? StringId() : texts_.Intern(text); }

 private:
  const Trace& trace_;
  StringPool& texts_;
  std::vector<StringId> drawn_;  // by text of the trace
};

// Adds the events that overlap the windows of the timeline, and the points in them, to its level 0:
// by track, begin and depth. Where there are more than `most`, those of the last windows that begin
// late may be left out, of which there are as many in any case.
void AddExactRows(const RankView& view, const RankTracks& tracks, size_t most, DrawnTexts& texts,
                  Timeline& timeline);

// One level of detail of one track: short events that are near each other become one box.

struct MergedBox {
  int64_t begin_ns = 0;  // as in the columns of the events
  int64_t end_ns = 0;
  int64_t busy_ns = 0;
  uint32_t count = 0;
  uint32_t row = 0;  // the first event of the name that takes the largest part of the time
  uint32_t depth = 0;
};

// An event as every level reads it: side by side with the others of its depth.
struct TrackEvent {
  int64_t begin_ns = 0;
  int64_t dur_ns = 0;
  StringId name;
  uint32_t row = 0;
};

// In the order of the rows of the track, which are of `columns`. O(rows).
std::vector<TrackEvent> EventsOf(const EventColumns& columns, const EventTrack& track);

struct MergedPoint {
  int64_t begin_ns = 0;
  double low = 0;
  double high = 0;
  double last = 0;
};

// Merges the events of tracks. Keeps sums by name from box to box; not thread-safe.
class BoxMerger {
 public:
  // `names`: a number above that of every name.
  explicit BoxMerger(size_t names) : names_(names) {}

  // The boxes of a track at a grain above 0, by begin and depth; nothing if there are more than
  // `most`. One pass over the events. `depth_begin` as in EventTrack.
  bool Merge(std::span<const TrackEvent> events, std::span<const uint32_t> depth_begin,
             int64_t grain_ns, size_t most, std::vector<MergedBox>& boxes);

 private:
  struct NameSum {
    int64_t busy_ns = 0;
    uint32_t row = 0;
    bool is_used = false;
  };

  void MergeDepth(std::span<const TrackEvent> events, int64_t grain_ns,
                  std::vector<MergedBox>& boxes);
  void Open(const TrackEvent& event);
  void AddTo(const TrackEvent& event);
  void Close(std::vector<MergedBox>& boxes);

  std::vector<NameSum> names_;
  std::vector<uint32_t> used_;  // the names of the open box, first first
  MergedBox open_;
  bool is_open_ = false;
};

// The points of a counter at a grain above 0: those that begin less than a grain after the first
// are one. One pass.
std::vector<MergedPoint> MergePoints(const CounterTrack& track, int64_t grain_ns);

// The rows of one level of merged events of a rank, in all of the recording or in a stretch of it.

// Times count from the begin of the recording; both ends belong to it.
struct TimeSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};
inline constexpr TimeSpan kWholeRecording{INT64_MIN, INT64_MAX};

// Makes one level after the other. Not thread-safe.
class LevelRows {
 public:
  // All outlive it. O(events).
  LevelRows(const RankView& view, const RankTracks& tracks, DrawnTexts& texts);

  // The rows of a level above 0 that touch the span: the same as for the whole recording. False
  // where there are more than `most` boxes; then some are missing. O(events), whatever the span.
  bool Make(int64_t level, const TimeSpan& span, size_t most);

  const std::vector<DrawnBox>& boxes() const { return boxes_; }      // by track, begin, depth
  const std::vector<DrawnPoint>& points() const { return points_; }  // by track, begin

 private:
  DrawnBox BoxOf(size_t track, int64_t level, const MergedBox& merged);
  void AddPoints(int64_t level, const TimeSpan& span);

  const RankView& view_;
  const RankTracks& tracks_;
  DrawnTexts& texts_;
  BoxMerger merger_;
  std::vector<std::vector<TrackEvent>> events_;  // by track
  std::vector<MergedBox> merged_;
  std::vector<DrawnBox> boxes_;
  std::vector<DrawnPoint> points_;
};

// What of a rank is drawn.
struct TimelineRequest {
  // About how many bytes of a page it may take; nothing: level 0 of everything, and all levels.
  std::optional<int64_t> share;
};

// Finds the tracks of a rank, and describes both in a timeline that has nothing drawn yet. Where
// `is_limited`, without the smallest of very many tracks and the deepest of very many rows.
RankTracks BeginTimeline(const RankView& view, const Selected& selected, const Params& params,
                         bool is_limited, Timeline& timeline);

// O(events) per level, and a sort of what is drawn.
Result<Timeline> MakeTimeline(const RankView& view, const Selected& selected, const Params& params,
                              const TimelineRequest& request);

// Finer detail of one rank for a page that asks for it: any number of stretches, of tracks that are
// found once. docs/how-it-works/timeline.md.

// What is asked for.
struct AskedStretch {
  TimeSpan span;
  int64_t grain_ns = 0;  // merged no more than this; 0: not at all
};

// Immutable; safe to draw from any number of threads.
class RankStretches {
 public:
  // The tracks of a page. Trace, index and steps of the view outlive it. Errors are those of what
  // is selected. O(events log events), and the critical path.
  static Result<RankStretches> Make(const RankView& view, const Params& params);

  // Level 0 of the stretch where it takes no more than about `room` bytes of a page; else the
  // finest level that does so, but none that is finer than the grain needs; none at all where not
  // even the coarsest does so, or the recording has nothing there. Times count from the begin of
  // the recording. O(events) per level that is tried.
  Timeline Draw(const AskedStretch& asked, int64_t room) const;

 private:
  RankStretches(const RankView& view, const Params& params, const Selected& selected);

  // The tracks, and the stretch as the window; nothing drawn.
  Timeline Begin(const TimeSpan& span) const;
  // Nothing where it takes more room.
  std::optional<Timeline> DrawExact(const TimeSpan& span, int64_t room) const;
  std::optional<Timeline> DrawLevel(int64_t level, const TimeSpan& span, int64_t room) const;

  RankView view_;
  Timeline begun_;  // without anything drawn
  RankTracks tracks_;
};

}  // namespace borescope::internal
