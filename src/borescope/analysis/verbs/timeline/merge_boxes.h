// One level of detail of one track: short events that are near each other become one box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/verbs/timeline/tracks.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
