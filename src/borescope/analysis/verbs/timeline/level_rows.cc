#include "borescope/analysis/verbs/timeline/level_rows.h"

#include <algorithm>

#include "borescope/base/saturating.h"

namespace borescope::internal {

LevelRows::LevelRows(const RankView& view, const RankTracks& tracks, DrawnTexts& texts)
    : view_(view), tracks_(tracks), texts_(texts), merger_(view.trace.strings().size() + 1) {
  events_.reserve(tracks.events.size());
  for (const EventTrack& track : tracks.events) {
    events_.push_back(EventsOf(tracks.ColumnsOf(view.trace, track.side), track));
  }
}

bool LevelRows::Make(int64_t level, const TimeSpan& span, size_t most) {
  boxes_.clear();
  points_.clear();
  const int64_t origin_ns = view_.trace.begin_ns();
  // Only boxes that are kept count; where all are, merging need not go on beyond the most.
  const bool is_all = span.begin_ns == INT64_MIN && span.end_ns == INT64_MAX;
  for (size_t track = 0; track < tracks_.events.size(); ++track) {
    const size_t most_of_track = is_all ? most - boxes_.size() : SIZE_MAX;
    if (!merger_.Merge(events_[track], tracks_.events[track].depth_begin, GrainOf(level),
                       most_of_track, merged_)) {
      return false;
    }
    for (const MergedBox& box : merged_) {
      if (SubtractSaturating(box.begin_ns, origin_ns) <= span.end_ns &&
          SubtractSaturating(box.end_ns, origin_ns) >= span.begin_ns) {
        boxes_.push_back(BoxOf(track, level, box));
      }
    }
    if (boxes_.size() > most) {
      return false;
    }
  }
  AddPoints(level, span);
  return true;
}

DrawnBox LevelRows::BoxOf(size_t track, int64_t level, const MergedBox& merged) {
  const EventSide side = tracks_.events[track].side;
  const EventColumns columns = tracks_.ColumnsOf(view_.trace, side);
  DrawnBox box;
  box.track = static_cast<int64_t>(track);
  box.level = level;
  box.depth = merged.depth;
  box.begin_ns = SubtractSaturating(merged.begin_ns, view_.trace.begin_ns());
  box.duration_ns = SubtractSaturating(merged.end_ns, merged.begin_ns);
  box.busy_ns = merged.busy_ns;
  box.count = merged.count;
  box.name = texts_.Of(columns.name[merged.row]);
  box.tone = ToneOf(view_, tracks_.path, side, merged.row);
  return box;
}

void LevelRows::AddPoints(int64_t level, const TimeSpan& span) {
  for (size_t i = 0; i < tracks_.counters.size(); ++i) {
    for (const MergedPoint& point : MergePoints(tracks_.counters[i], GrainOf(level))) {
      const int64_t begin_ns =
          std::max<int64_t>(0, SubtractSaturating(point.begin_ns, view_.trace.begin_ns()));
      if (span.begin_ns <= begin_ns && begin_ns <= span.end_ns) {
        points_.push_back({static_cast<int64_t>(tracks_.events.size() + i), level, begin_ns,
                           point.low, point.high, point.last});
      }
    }
  }
}

}  // namespace borescope::internal
