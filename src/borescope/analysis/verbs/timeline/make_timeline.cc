#include "borescope/analysis/verbs/timeline/make_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"
#include "borescope/analysis/verbs/timeline/tracks.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

constexpr size_t kLongestDetail = 160;

// An event that overlaps a window, and which.
struct ExactEvent {
  size_t track = 0;
  uint32_t depth = 0;
  uint32_t row = 0;
  int64_t begin_ns = 0;  // since the begin of the recording
  size_t window = 0;
};

// Calls `use` with every event that overlaps one of the windows.
template <class Use>
void ForEachEvent(const RankView& view, const RankTracks& tracks,
                  const std::vector<DrawnWindow>& windows, const Use& use) {
  const int64_t origin_ns = view.trace.begin_ns();
  for (size_t number = 0; number < tracks.events.size(); ++number) {
    const EventTrack& track = tracks.events[number];
    const EventColumns columns = tracks.ColumnsOf(view.trace, track.side);
    for (uint32_t depth = 0; depth + 1 < track.depth_begin.size(); ++depth) {
      for (const uint32_t i : EachRow(track.depth_begin[depth], track.depth_begin[depth + 1])) {
        const uint32_t row = track.rows[i];
        const int64_t begin_ns = SubtractSaturating(columns.begin_ns[row], origin_ns);
        const size_t window =
            WindowOf(windows, begin_ns, AddSaturating(begin_ns, columns.dur_ns[row]));
        if (window < windows.size()) {
          use(ExactEvent{number, depth, row, begin_ns, window});
        }
      }
    }
  }
}

// Finds a moment up to which there are at least so many events, soon after that many.
class LatestBegin {
 public:
  explicit LatestBegin(const DrawnWindow& window)
      : begin_ns_(window.begin_ns),
        end_ns_(window.end_ns),
        bucket_ns_(window.length_ns() / int64_t{kBuckets} + 1) {}

  void Count(int64_t begin_ns) {
    ++counts_[BucketOf(begin_ns)];
    ++all_;
  }

  size_t all() const { return all_; }

  int64_t Find(size_t most) const {
    size_t before = 0;
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      before += counts_[bucket];
      if (before > most) {
        return begin_ns_ + static_cast<int64_t>(bucket + 1) * bucket_ns_;
      }
    }
    return end_ns_;
  }

 private:
  static constexpr size_t kBuckets = 4096;

  size_t BucketOf(int64_t begin_ns) const {
    const int64_t bucket = std::max<int64_t>(0, begin_ns - begin_ns_) / bucket_ns_;
    return std::min(kBuckets - 1, static_cast<size_t>(bucket));
  }

  int64_t begin_ns_;
  int64_t end_ns_;
  int64_t bucket_ns_;
  size_t all_ = 0;
  std::array<size_t, kBuckets> counts_{};
};

// Up to where windows have so many events, soon after that many: the last of them, and its moment.
struct LatestRow {
  size_t window = 0;
  int64_t begin_ns = 0;

  bool Has(const ExactEvent& event) const {
    return event.window < window || (event.window == window && event.begin_ns <= begin_ns);
  }
};

LatestRow FindLatestRow(const RankView& view, const RankTracks& tracks,
                        const std::vector<DrawnWindow>& windows, size_t most) {
  std::vector<LatestBegin> counts(windows.begin(), windows.end());
  ForEachEvent(view, tracks, windows,
               [&](const ExactEvent& event) { counts[event.window].Count(event.begin_ns); });
  for (size_t window = 0; window < windows.size(); ++window) {
    if (counts[window].all() > most) {
      return {window, counts[window].Find(most)};
    }
    most -= counts[window].all();
  }
  return {windows.size(), 0};
}

std::string DetailOfKernel(const RankView& view, uint32_t row) {
  const Trace& trace = view.trace;
  if (const uint32_t args = CollectiveArgsOf(view, DeviceId{row}); args != kNoDetail) {
    const Collectives& collectives = trace.collectives();
    return collectives.in_elems[args] == kMissing
               ? std::string(trace.Text(collectives.collective[args]))
               : fmt::format("{} of {} {}", trace.Text(collectives.collective[args]),
                             collectives.in_elems[args], trace.Text(collectives.dtype[args]));
  }
  const uint32_t detail = trace.device().detail[row];
  const Kernels& kernels = trace.kernels();
  if (detail == kNoDetail || kernels.grid_x[detail] < 0 || kernels.block_x[detail] < 0) {
    return {};
  }
  return fmt::format("grid {},{},{} block {},{},{}", kernels.grid_x[detail], kernels.grid_y[detail],
                     kernels.grid_z[detail], kernels.block_x[detail], kernels.block_y[detail],
                     kernels.block_z[detail]);
}

std::string DetailOfDevice(const RankView& view, uint32_t row) {
  const DeviceEvents& device = view.trace.device();
  if (device.kind[row] == DeviceKind::kKernel) {
    return DetailOfKernel(view, row);
  }
  const uint32_t detail = device.detail[row];
  const int64_t bytes = detail == kNoDetail ? kMissing : view.trace.copies().bytes[detail];
  return bytes == kMissing ? std::string() : fmt::format("{} bytes", bytes);
}

// The shapes of an operator, as recorded.
std::string_view DetailOfHost(const Trace& trace, uint32_t row) {
  const HostEvents& host = trace.host();
  const bool has_shapes =
      (host.kind[row] == HostKind::kOp || host.kind[row] == HostKind::kAnnotation) &&
      host.detail[row] != kNoDetail;
  return has_shapes ? trace.Text(trace.ops().input_dims[host.detail[row]]) : std::string_view();
}

// Makes boxes of events.
class BoxMaker {
 public:
  BoxMaker(const RankView& view, const RankTracks& tracks, DrawnTexts& texts)
      : view_(view), tracks_(tracks), texts_(texts), origin_ns_(view.trace.begin_ns()) {}

  DrawnBox Make(size_t track, uint32_t depth, uint32_t row) {
    const EventSide side = tracks_.events[track].side;
    const EventColumns columns = tracks_.ColumnsOf(view_.trace, side);
    DrawnBox box;
    box.track = static_cast<int64_t>(track);
    box.depth = depth;
    box.begin_ns = SubtractSaturating(columns.begin_ns[row], origin_ns_);
    box.duration_ns = columns.dur_ns[row];
    box.busy_ns = box.duration_ns;
    box.name = texts_.Of(columns.name[row]);
    box.tone = ToneOf(view_, tracks_.path, side, row);
    AddDetail(side, row, box);
    return box;
  }

 private:
  void AddDetail(EventSide side, uint32_t row, DrawnBox& box) {
    switch (side) {
      case EventSide::kHost:
        box.detail = texts_.OfText(ShortenedName(DetailOfHost(view_.trace, row), kLongestDetail));
        break;
      case EventSide::kDevice:
        box.detail = texts_.OfText(DetailOfDevice(view_, row));
        SetLaunch(view_.index.correlation.launch_of[row], box);
        break;
      case EventSide::kPath:
        box.detail = texts_.OfText(tracks_.path.bound_by[row]);
        SetOwner(row, box);
        break;
    }
  }

  void SetLaunch(HostId call, DrawnBox& box) {
    if (call.valid() && !view_.trace.host().IsCaptured(call)) {
      const HostEvents& host = view_.trace.host();
      Set(host.track[call.value], host.ts_ns[call.value], box);
    }
  }

  // The event that a stretch of the path is of.
  void SetOwner(uint32_t row, DrawnBox& box) {
    const uint32_t event = tracks_.path.event[row];
    if (event == kNoEvent) {
      return;
    }
    const HostEvents& host = view_.trace.host();
    const DeviceEvents& device = view_.trace.device();
    tracks_.path.is_host[row] != 0 ? Set(host.track[event], host.ts_ns[event], box)
                                   : Set(device.track[event], device.ts_ns[event], box);
  }

  void Set(TrackId source, int64_t ts_ns, DrawnBox& box) {
    box.launch_track = tracks_.track_of_source[source.value];
    box.launch_ns = box.launch_track == kMissing ? 0 : SubtractSaturating(ts_ns, origin_ns_);
  }

  const RankView& view_;
  const RankTracks& tracks_;
  DrawnTexts& texts_;
  int64_t origin_ns_;
};

void AddExactPoints(const RankView& view, const RankTracks& tracks, Timeline& timeline) {
  for (size_t i = 0; i < tracks.counters.size(); ++i) {
    const CounterTrack& counter = tracks.counters[i];
    for (size_t point = 0; point < counter.ts_ns.size(); ++point) {
      const int64_t begin_ns =
          std::max<int64_t>(0, SubtractSaturating(counter.ts_ns[point], view.trace.begin_ns()));
      if (WindowOf(timeline.windows, begin_ns, begin_ns) < timeline.windows.size()) {
        const double value = counter.value[point];
        timeline.points.push_back(
            {static_cast<int64_t>(tracks.events.size() + i), 0, begin_ns, value, value, value});
      }
    }
  }
}

}  // namespace

void AddExactRows(const RankView& view, const RankTracks& tracks, size_t most, DrawnTexts& texts,
                  Timeline& timeline) {
  const LatestRow latest = FindLatestRow(view, tracks, timeline.windows, most);
  BoxMaker maker(view, tracks, texts);
  std::vector<DrawnBox>& boxes = timeline.boxes;
  ForEachEvent(view, tracks, timeline.windows, [&](const ExactEvent& event) {
    if (latest.Has(event)) {
      boxes.push_back(maker.Make(event.track, event.depth, event.row));
    }
  });
  std::stable_sort(boxes.begin(), boxes.end(), [](const DrawnBox& a, const DrawnBox& b) {
    return std::tie(a.track, a.begin_ns, a.depth) < std::tie(b.track, b.begin_ns, b.depth);
  });
  AddExactPoints(view, tracks, timeline);
}

std::vector<TrackEvent> EventsOf(const EventColumns& columns, const EventTrack& track) {
  std::vector<TrackEvent> events;
  events.reserve(track.rows.size());
  for (const uint32_t row : track.rows) {
    CheckStopAt(row);
    events.push_back({columns.begin_ns[row], columns.dur_ns[row], columns.name[row], row});
  }
  return events;
}

void BoxMerger::Open(const TrackEvent& event) {
  open_ = {.begin_ns = event.begin_ns, .end_ns = event.begin_ns, .row = event.row};
  is_open_ = true;
}

void BoxMerger::AddTo(const TrackEvent& event) {
  open_.end_ns = std::max(open_.end_ns, event.begin_ns + event.dur_ns);
  open_.busy_ns += event.dur_ns;  // events of one depth never overlap
  ++open_.count;
  NameSum& sum = names_[event.name.value];
  if (!sum.is_used) {
    sum = {0, event.row, true};
    used_.push_back(event.name.value);
  }
  sum.busy_ns += event.dur_ns;
}

void BoxMerger::Close(std::vector<MergedBox>& boxes) {
  if (!is_open_) {
    return;
  }
  const NameSum* largest = &names_[used_.front()];
  for (const uint32_t name : used_) {
    largest = names_[name].busy_ns > largest->busy_ns ? &names_[name] : largest;
  }
  open_.row = largest->row;
  for (const uint32_t name : used_) {
    names_[name].is_used = false;
  }
  used_.clear();
  boxes.push_back(open_);
  is_open_ = false;
}

void BoxMerger::MergeDepth(std::span<const TrackEvent> events, int64_t grain_ns,
                           std::vector<MergedBox>& boxes) {
  for (const TrackEvent& event : events) {
    CheckStopAt(event.row);
    const bool is_long = event.dur_ns >= grain_ns;
    if (is_open_ && (is_long || SubtractSaturating(event.begin_ns, open_.end_ns) >= grain_ns)) {
      Close(boxes);
    }
    if (is_long) {
      boxes.push_back(
          {event.begin_ns, event.begin_ns + event.dur_ns, event.dur_ns, 1, event.row, 0});
      continue;
    }
    if (!is_open_) {
      Open(event);
    }
    AddTo(event);
    if (open_.end_ns - open_.begin_ns >= grain_ns) {
      Close(boxes);
    }
  }
  Close(boxes);
}

bool BoxMerger::Merge(std::span<const TrackEvent> events, std::span<const uint32_t> depth_begin,
                      int64_t grain_ns, size_t most, std::vector<MergedBox>& boxes) {
  boxes.clear();
  for (uint32_t depth = 0; depth + 1 < depth_begin.size(); ++depth) {
    const size_t first = boxes.size();
    const uint32_t begin = depth_begin[depth];
    MergeDepth(events.subspan(begin, depth_begin[depth + 1] - begin), grain_ns, boxes);
    for (size_t i = first; i < boxes.size(); ++i) {
      boxes[i].depth = depth;
    }
    if (boxes.size() > most) {
      return false;
    }
  }
  std::stable_sort(boxes.begin(), boxes.end(), [](const MergedBox& a, const MergedBox& b) {
    return std::tie(a.begin_ns, a.depth) < std::tie(b.begin_ns, b.depth);
  });
  return true;
}

std::vector<MergedPoint> MergePoints(const CounterTrack& track, int64_t grain_ns) {
  std::vector<MergedPoint> points;
  for (const size_t i : EachIndex(track.ts_ns.size())) {
    const double value = track.value[i];
    if (points.empty() || SubtractSaturating(track.ts_ns[i], points.back().begin_ns) >= grain_ns) {
      points.push_back({track.ts_ns[i], value, value, value});
      continue;
    }
    MergedPoint& point = points.back();
    point.low = std::min(point.low, value);
    point.high = std::max(point.high, value);
    point.last = value;
  }
  return points;
}

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

namespace {

// In a page: more tracks of a role and deeper rows than anybody looks at, which would take all of
// it.
constexpr size_t kMostTracks = 128;
constexpr size_t kMostDepths = 128;

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

// Level 0 in the windows, no more of it than may be needed.
void AddWindows(const RankView& view, const RankTracks& tracks, int64_t most_bytes,
                DrawnTexts& texts, Timeline& timeline) {
  AddExactRows(view, tracks, static_cast<size_t>(most_bytes / kLeastBytesOfRow), texts, timeline);
  timeline.levels.push_back({.level = 0, .bytes = BytesOfWindows(timeline)});
  MeasureWindows(timeline);
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

Result<Timeline> MakeTimeline(const RankView& view, const Selected& selected, const Params& params,
                              const TimelineRequest& request) {
  Timeline timeline;
  const RankTracks tracks =
      BeginTimeline(view, selected, params, request.share.has_value(), timeline);
  if (request.share.has_value()) {
    BS_ASSIGN(timeline.windows, ChooseWindows(view, selected, params, tracks));
  } else {
    timeline.windows = {{0, timeline.span_ns, std::string(kAllWindow)}};
  }
  DrawnTexts texts(view.trace, timeline.texts);
  const int64_t track_bytes = TrackBytes(timeline.tracks);
  const int64_t share = request.share.value_or(INT64_MAX);
  AddWindows(view, tracks, MostOfWindows(share, track_bytes), texts, timeline);
  const PageRoom room(share, track_bytes, timeline.levels.front().bytes);
  LevelMaker(view, tracks, texts, timeline).AddThoseThatFit(room.levels);
  if (request.share.has_value()) {
    FitPage(timeline, share);
  }
  return timeline;
}

namespace {

// The coarsest level above 0 that is as fine as asked for.
int64_t LevelOfGrain(int64_t grain_ns, int64_t coarsest) {
  int64_t level = 1;
  while (level < coarsest && GrainOf(level + 1) <= grain_ns) {
    ++level;
  }
  return level;
}

}  // namespace

RankStretches::RankStretches(const RankView& view, const Params& params, const Selected& selected)
    : view_(view), tracks_(BeginTimeline(view_, selected, params, true, begun_)) {}

Result<RankStretches> RankStretches::Make(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return RankStretches(view, params, selected);
}

Timeline RankStretches::Draw(const AskedStretch& asked, int64_t room) const {
  const TimeSpan span{std::max<int64_t>(0, asked.span.begin_ns),
                      std::min(begun_.span_ns, asked.span.end_ns)};
  if (span.begin_ns > span.end_ns) {
    return Begin({});
  }
  std::optional<Timeline> drawn = DrawExact(span, room);
  const int64_t coarsest = CoarsestLevelOf(begun_.span_ns);
  for (int64_t level = LevelOfGrain(asked.grain_ns, coarsest);
       !drawn.has_value() && level <= coarsest; ++level) {
    drawn = DrawLevel(level, span, room);
  }
  return drawn.has_value() ? std::move(*drawn) : Begin(span);
}

Timeline RankStretches::Begin(const TimeSpan& span) const {
  Timeline timeline;
  timeline.rank = begun_.rank;
  timeline.clock_begin_ns = begun_.clock_begin_ns;
  timeline.base_ns = begun_.base_ns;
  timeline.span_ns = begun_.span_ns;
  timeline.left_out_tracks = begun_.left_out_tracks;
  timeline.left_out_events = begun_.left_out_events;
  timeline.tracks = begun_.tracks;
  timeline.windows = {{span.begin_ns, span.end_ns, "asked for"}};
  return timeline;
}

std::optional<Timeline> RankStretches::DrawExact(const TimeSpan& span, int64_t room) const {
  Timeline drawn = Begin(span);
  DrawnTexts texts(view_.trace, drawn.texts);
  AddExactRows(view_, tracks_, static_cast<size_t>(room / kLeastBytesOfRow), texts, drawn);
  PageCost cost(drawn.texts);
  cost.AddAll(drawn.boxes, drawn.points);
  if (cost.bytes() > room) {
    return std::nullopt;
  }
  drawn.levels.push_back(
      {.level = 0, .begin_ns = span.begin_ns, .end_ns = span.end_ns, .bytes = cost.bytes()});
  return drawn;
}

std::optional<Timeline> RankStretches::DrawLevel(int64_t level, const TimeSpan& span,
                                                 int64_t room) const {
  Timeline drawn = Begin(span);
  DrawnTexts texts(view_.trace, drawn.texts);
  LevelRows rows(view_, tracks_, texts);
  PageCost cost(drawn.texts);
  if (!rows.Make(level, span, static_cast<size_t>(room / kLeastBytesOfRow))) {
    return std::nullopt;
  }
  cost.AddAll(rows.boxes(), rows.points());
  if (cost.bytes() > room) {
    return std::nullopt;
  }
  drawn.boxes = rows.boxes();
  drawn.points = rows.points();
  drawn.levels.push_back({.level = level,
                          .grain_ns = GrainOf(level),
                          .begin_ns = span.begin_ns,
                          .end_ns = span.end_ns,
                          .bytes = cost.bytes()});
  return drawn;
}

}  // namespace borescope::internal
