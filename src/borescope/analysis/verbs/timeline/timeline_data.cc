#include "borescope/analysis/verbs/timeline/timeline_data.h"

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

}  // namespace borescope::internal
