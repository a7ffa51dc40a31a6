// The rows of one level of merged events of a rank, in all of the recording or in a stretch of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "borescope/analysis/verbs/timeline/exact_boxes.h"
#include "borescope/analysis/verbs/timeline/merge_boxes.h"

namespace borescope::internal {

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

  // Those of a level above 0 that touch the span: the same rows as of the whole recording. False
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

}  // namespace borescope::internal
