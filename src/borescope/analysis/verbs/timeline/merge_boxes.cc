#include "borescope/analysis/verbs/timeline/merge_boxes.h"

#include <algorithm>
#include <tuple>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

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
  for (size_t i = 0; i < track.ts_ns.size(); ++i) {
    CheckStopAt(i);
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

}  // namespace borescope::internal
