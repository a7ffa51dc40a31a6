#include "borescope/analysis/verbs/timeline/make_timeline.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "borescope/analysis/verbs/timeline/exact_boxes.h"
#include "borescope/analysis/verbs/timeline/fit_page.h"
#include "borescope/analysis/verbs/timeline/level_rows.h"
#include "borescope/analysis/verbs/timeline/page_cost.h"
#include "borescope/analysis/verbs/timeline/window.h"

namespace borescope::internal {
namespace {

// In a page: more tracks and deeper rows than anybody looks at, which would take all of it.
constexpr size_t kMostTracks = 128;
constexpr size_t kMostDepths = 128;

size_t Events(const EventTrack& track) { return track.rows.size(); }
size_t Events(const CounterTrack& track) { return track.ts_ns.size(); }

// Keeps the `most` largest tracks, in their order.
template <class Track>
void KeepLargest(size_t most, std::vector<Track>& tracks, Timeline& timeline) {
  if (tracks.size() <= most) {
    return;
  }
  std::vector<size_t> by_size(tracks.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return Events(tracks[a]) > Events(tracks[b]); });
  by_size.resize(most);
  std::sort(by_size.begin(), by_size.end());
  std::vector<Track> kept;
  for (const Track& track : tracks) {
    timeline.left_out_events += static_cast<int64_t>(Events(track));
  }
  timeline.left_out_tracks += static_cast<int64_t>(tracks.size() - most);
  for (const size_t track : by_size) {
    timeline.left_out_events -= static_cast<int64_t>(Events(tracks[track]));
    kept.push_back(std::move(tracks[track]));
  }
  tracks = std::move(kept);
}

void LimitTracks(RankTracks& tracks, Timeline& timeline) {
  KeepLargest(kMostTracks, tracks.events, timeline);
  KeepLargest(kMostTracks, tracks.counters, timeline);
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
      : timeline_(timeline), rows_(view, tracks, texts), cost_(timeline.texts) {}

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
    if (!rows_.Make(level, kWholeRecording, static_cast<size_t>(room / kLeastBytesOfRow))) {
      return false;
    }
    before_ = cost_.bytes();
    cost_.BeginLevel();
    cost_.AddAll(rows_.boxes(), rows_.points());
    return true;
  }

  void Keep(int64_t level) {
    levels_.push_back({.level = level,
                       .grain_ns = GrainOf(level),
                       .end_ns = timeline_.span_ns,
                       .bytes = cost_.bytes() - before_});
    kept_boxes_.push_back(rows_.boxes());
    kept_points_.push_back(rows_.points());
  }

  // Finest first, behind level 0.
  void Finish() {
    for (size_t i = levels_.size(); i-- > 0;) {
      timeline_.levels.push_back(levels_[i]);
      std::move(kept_boxes_[i].begin(), kept_boxes_[i].end(), std::back_inserter(timeline_.boxes));
      std::move(kept_points_[i].begin(), kept_points_[i].end(),
                std::back_inserter(timeline_.points));
      kept_boxes_[i] = {};
    }
  }

  Timeline& timeline_;
  LevelRows rows_;  // of the level at work
  PageCost cost_;
  int64_t before_ = 0;
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
  cost.AddAll(timeline.boxes, timeline.points);
  return cost.bytes();
}

// Level 0 in the window, no more of it than may be needed.
void AddWindow(const RankView& view, const RankTracks& tracks, int64_t most_bytes,
               DrawnTexts& texts, Timeline& timeline) {
  AddExactRows(view, tracks, timeline.window, static_cast<size_t>(most_bytes / kLeastBytesOfRow),
               texts, timeline);
  timeline.levels.push_back({.level = 0,
                             .begin_ns = timeline.window.begin_ns,
                             .end_ns = timeline.window.end_ns,
                             .bytes = LevelZeroBytes(timeline)});
}

}  // namespace

RankTracks BeginTimeline(const RankView& view, const Selected& selected, const Params& params,
                         bool is_limited, Timeline& timeline) {
  DescribeRank(view, timeline);
  RankTracks tracks = FindTracks(view, selected, params);
  if (is_limited) {
    LimitTracks(tracks, timeline);
  }
  for (const EventTrack& track : tracks.events) {
    timeline.tracks.push_back(track.drawn);
  }
  for (const CounterTrack& track : tracks.counters) {
    timeline.tracks.push_back(track.drawn);
  }
  return tracks;
}

Timeline MakeTimeline(const RankView& view, const Selected& selected, const Params& params,
                      const TimelineRequest& request) {
  Timeline timeline;
  const RankTracks tracks =
      BeginTimeline(view, selected, params, request.share.has_value(), timeline);
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
