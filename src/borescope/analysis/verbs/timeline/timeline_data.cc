#include "borescope/analysis/verbs/timeline/timeline_data.h"

#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr int64_t kFinestGrainNs = 1000;

}  // namespace

std::string_view TrackRoleName(TrackRole role) {
  constexpr std::string_view kNames[] = {"steps", "path", "thread", "stream", "group", "counter"};
  return kNames[static_cast<size_t>(role)];
}

int64_t GrainOf(int64_t level) { return level == 0 ? 0 : kFinestGrainNs << (2 * (level - 1)); }

int64_t CoarsestLevelOf(int64_t span_ns) {
  int64_t level = 1;
  while (level < kCoarsestLevel && GrainOf(level) < span_ns) {
    ++level;
  }
  return level;
}

void ShiftTimeline(int64_t shift_ns, Timeline& timeline) {
  timeline.shift_ns = shift_ns;
  const auto move = [shift_ns](int64_t& ns) { AddSaturatingTo(ns, shift_ns); };
  move(timeline.window.begin_ns);
  move(timeline.window.end_ns);
  for (DrawnLevel& level : timeline.levels) {
    move(level.begin_ns);
    move(level.end_ns);
  }
  for (DrawnBox& box : timeline.boxes) {
    move(box.begin_ns);
    move(box.launch_ns);
  }
  for (DrawnPoint& point : timeline.points) {
    move(point.begin_ns);
  }
}

}  // namespace borescope::internal
