#include "borescope/analysis/verbs/timeline/make_timeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/analysis/verbs/timeline/exact_boxes.h"
#include "borescope/analysis/verbs/timeline/fit_page.h"
#include "borescope/analysis/verbs/timeline/merge_boxes.h"
#include "borescope/analysis/verbs/timeline/window.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

// In a page: more tracks of a role and deeper rows than anybody looks at, which would take all of
// it.
constexpr size_t kMostTracks = 128;
constexpr size_t kMostDepths = 128;
// No box or point of a level takes less.
constexpr int64_t kLeastBytes = 6;

size_t Events(const EventTrack& track) { return track.rows.size(); }
size_t Events(const CounterTrack& track) { return track.ts_ns.size(); }

// Keeps the largest tracks of a role, and all others, in their order.
template <class Track>
void KeepLargest(TrackRole role, std::vector<Track>& tracks, Timeline& timeline) {
  std::vector<size_t> by_size;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks[track].drawn.role == role) {
      by_size.push_back(track);
    }
  }
  if (by_size.size() <= kMostTracks) {
    return;
  }
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return Events(tracks[a]) > Events(tracks[b]); });
  std::vector<char> is_left_out(tracks.size(), 0);
  for (size_t i = kMostTracks; i < by_size.size(); ++i) {
    is_left_out[by_size[i]] = 1;
    ++timeline.left_out_tracks;
    timeline.left_out_events += static_cast<int64_t>(Events(tracks[by_size[i]]));
  }
  std::vector<Track> kept;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (is_left_out[track] == 0) {
      kept.push_back(std::move(tracks[track]));
    }
  }
  tracks = std::move(kept);
}

// Steps and the critical path are single tracks, which always stay.
void LimitTracks(RankTracks& tracks, Timeline& timeline) {
  for (const TrackRole role : {TrackRole::kThread, TrackRole::kStream, TrackRole::kGroup}) {
    KeepLargest(role, tracks.events, timeline);
  }
  KeepLargest(TrackRole::kCounter, tracks.counters, timeline);
  for (EventTrack& track : tracks.events) {
    if (track.depth_begin.size() > kMostDepths + 1) {
      track.depth_begin.resize(kMostDepths + 1);
      timeline.left_out_events +=
          static_cast<int64_t>(track.rows.size() - track.depth_begin.back());
      track.rows.resize(track.depth_begin.back());
    }
  }
  std::fill(tracks.track_of_source.begin(), tracks.track_of_source.end(), kMissing);
  for (size_t track = 0; track < tracks.events.size(); ++track) {
    if (const TrackId source = tracks.events[track].source; source.valid()) {
      tracks.track_of_source[source.value] = static_cast<int64_t>(track);
    }
  }
}

// Adds levels of merged events to a timeline.
class LevelMaker {
 public:
  LevelMaker(const RankView& view, const RankTracks& tracks, DrawnTexts& texts, Timeline& timeline)
      : view_(view),
        tracks_(tracks),
        texts_(texts),
        timeline_(timeline),
        merger_(view.trace.strings().size() + 1),
        cost_(timeline.texts) {}

  // The coarsest levels that fit, one at least, before those that are there.
  void AddThoseThatFit(int64_t room) {
    for (int64_t level = CoarsestLevelOf(timeline_.span_ns); level > 0; --level) {
      const bool is_first = levels_.empty();
      if (!Make(level, is_first ? INT64_MAX : room) || (cost_.bytes() > room && !is_first)) {
        break;
      }
      Keep(level);
      if (cost_.bytes() > room) {
        break;
      }
    }
    Finish();
  }

 private:
  // Whether the level takes no more than about `room`.
  bool Make(int64_t level, int64_t room) {
    boxes_.clear();
    points_.clear();
    const auto most = static_cast<size_t>(room / kLeastBytes);
    for (size_t track = 0; track < tracks_.events.size(); ++track) {
      const EventTrack& events = tracks_.events[track];
      const EventColumns columns = tracks_.ColumnsOf(view_.trace, events.side);
      if (!merger_.Merge(columns, events, GrainOf(level), most - boxes_.size(), merged_)) {
        return false;
      }
      for (const MergedBox& box : merged_) {
        AddBox(static_cast<int64_t>(track), level, box);
      }
    }
    AddPoints(level);
    before_ = cost_.bytes();
    cost_.BeginLevel();
    for (const DrawnBox& box : boxes_) {
      cost_.Add(box);
    }
    for (const DrawnPoint& point : points_) {
      cost_.Add(point);
    }
    return true;
  }

  void AddBox(int64_t track, int64_t level, const MergedBox& merged) {
    const EventSide side = tracks_.events[static_cast<size_t>(track)].side;
    const EventColumns columns = tracks_.ColumnsOf(view_.trace, side);
    DrawnBox box;
    box.track = track;
    box.level = level;
    box.depth = merged.depth;
    box.begin_ns = SubtractSaturating(merged.begin_ns, view_.trace.begin_ns());
    box.duration_ns = SubtractSaturating(merged.end_ns, merged.begin_ns);
    box.busy_ns = merged.busy_ns;
    box.count = merged.count;
    box.name = texts_.Of(columns.name[merged.row]);
    box.tone = ToneOf(view_, tracks_.path, side, merged.row);
    boxes_.push_back(box);
  }

  void AddPoints(int64_t level) {
    for (size_t i = 0; i < tracks_.counters.size(); ++i) {
      for (const MergedPoint& point : MergePoints(tracks_.counters[i], GrainOf(level))) {
        const int64_t begin_ns = SubtractSaturating(point.begin_ns, view_.trace.begin_ns());
        points_.push_back({static_cast<int64_t>(tracks_.events.size() + i), level,
                           std::max<int64_t>(0, begin_ns), point.low, point.high, point.last});
      }
    }
  }

  void Keep(int64_t level) {
    levels_.push_back({.level = level,
                       .grain_ns = GrainOf(level),
                       .end_ns = timeline_.span_ns,
                       .bytes = cost_.bytes() - before_});
    kept_boxes_.push_back(boxes_);
    kept_points_.push_back(points_);
  }

  // Finest first, after level 0.
  void Finish() {
    for (size_t i = levels_.size(); i-- > 0;) {
      timeline_.levels.push_back(levels_[i]);
      std::move(kept_boxes_[i].begin(), kept_boxes_[i].end(), std::back_inserter(timeline_.boxes));
      std::move(kept_points_[i].begin(), kept_points_[i].end(),
                std::back_inserter(timeline_.points));
      kept_boxes_[i] = {};
    }
  }

  const RankView& view_;
  const RankTracks& tracks_;
  DrawnTexts& texts_;
  Timeline& timeline_;
  BoxMerger merger_;
  PageCost cost_;
  int64_t before_ = 0;
  std::vector<MergedBox> merged_;
  std::vector<DrawnBox> boxes_;  // of the level at work
  std::vector<DrawnPoint> points_;
  std::vector<DrawnLevel> levels_;  // coarsest first
  std::vector<std::vector<DrawnBox>> kept_boxes_;
  std::vector<std::vector<DrawnPoint>> kept_points_;
};

void DescribeRank(const RankView& view, Timeline& timeline) {
  timeline.rank = view.rank;
  timeline.clock_begin_ns = view.trace.begin_ns();
  timeline.base_ns = view.trace.meta().base_ns.value_or(kMissing);
  timeline.span_ns = view.trace.span_ns();
}

int64_t LevelZeroBytes(const Timeline& timeline) {
  PageCost cost(timeline.texts);
  for (const DrawnBox& box : timeline.boxes) {
    cost.Add(box);
  }
  for (const DrawnPoint& point : timeline.points) {
    cost.Add(point);
  }
  return cost.bytes();
}

// Level 0 in the window, no more of it than may be needed.
void AddWindow(const RankView& view, const RankTracks& tracks, int64_t most_bytes,
               DrawnTexts& texts, Timeline& timeline) {
  AddExactRows(view, tracks, timeline.window, static_cast<size_t>(most_bytes / kLeastBytes), texts,
               timeline);
  timeline.levels.push_back({.level = 0,
                             .begin_ns = timeline.window.begin_ns,
                             .end_ns = timeline.window.end_ns,
                             .bytes = LevelZeroBytes(timeline)});
}

}  // namespace

Timeline MakeTimeline(const RankView& view, const Selected& selected, const Params& params,
                      const TimelineRequest& request) {
  Timeline timeline;
  DescribeRank(view, timeline);
  RankTracks tracks = FindTracks(view, selected, params);
  if (request.share.has_value()) {
    LimitTracks(tracks, timeline);
  }
  for (const EventTrack& track : tracks.events) {
    timeline.tracks.push_back(track.drawn);
  }
  for (const CounterTrack& track : tracks.counters) {
    timeline.tracks.push_back(track.drawn);
  }
  timeline.window = request.share.has_value() ? ChooseWindow(view, selected, tracks)
                                              : DrawnWindow{0, timeline.span_ns, "all"};
  DrawnTexts texts(view.trace, timeline.texts);
  const int64_t track_bytes = TrackBytes(timeline.tracks);
  const int64_t share = request.share.value_or(INT64_MAX);
  AddWindow(view, tracks, MostOfWindow(share, track_bytes), texts, timeline);
  const PageRoom room(share, track_bytes, timeline.levels.front().bytes);
  LevelMaker(view, tracks, texts, timeline).AddThoseThatFit(room.levels);
  if (request.share.has_value()) {
    FitPage(timeline, share);
  }
  return timeline;
}

}  // namespace borescope::internal
