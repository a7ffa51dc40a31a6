#include "borescope/analysis/measures/idle/main_threads.h"

#include <algorithm>
#include <map>

#include "borescope/analysis/measures/idle/idle_division.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int64_t kSmallPart = 10;  // one of so many parts

// Of the threads that launched work on `tracks` its time, by track of the trace.
std::map<uint32_t, int64_t> LaunchedTimes(const RankView& view, std::span<const uint32_t> tracks) {
  const Tracks& all = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::map<uint32_t, int64_t> times;
  for (const uint32_t track : tracks) {
    for (uint32_t row = all.first_row[track]; row < all.end_row[track]; ++row) {
      CheckStopAt(row);
      const HostId launch = view.index.correlation.launch_of[row];
      if (IsDeviceWork(device.kind[row]) && launch.valid()) {
        AddSaturatingTo(times[view.trace.host().track[launch.value].value], device.dur_ns[row]);
      }
    }
  }
  return times;
}

// The threads with small work alone, in order.
std::vector<uint32_t> FindSmallThreads(const RankView& view, std::span<const uint32_t> tracks) {
  const std::map<uint32_t, int64_t> times = LaunchedTimes(view, tracks);
  int64_t longest_ns = 0;
  for (const auto& [thread, ns] : times) {
    longest_ns = std::max(longest_ns, ns);
  }
  std::vector<uint32_t> small;
  for (const auto& [thread, ns] : times) {
    if (ns < longest_ns / kSmallPart) {
      small.push_back(thread);
    }
  }
  return small;
}

// When work of small threads ended, sorted.
std::vector<int64_t> SmallEnds(const RankView& view, std::span<const uint32_t> tracks,
                               std::span<const uint32_t> small) {
  const Tracks& all = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::vector<int64_t> ends;
  for (const uint32_t track : tracks) {
    for (uint32_t row = all.first_row[track]; row < all.end_row[track]; ++row) {
      CheckStopAt(row);
      const HostId launch = view.index.correlation.launch_of[row];
      if (IsDeviceWork(device.kind[row]) && launch.valid() &&
          IsAmong(small, view.trace.host().track[launch.value])) {
        ends.push_back(device.end_ns(DeviceId{row}));
      }
    }
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

bool IsAfterOne(const std::vector<int64_t>& ends, Interval gap) {
  const auto next = std::upper_bound(ends.begin(), ends.end(), gap.end);
  return next != ends.begin() &&
         *std::prev(next) > std::max(gap.begin, SubtractSaturating(gap.end, kUsualDelayNs + 1));
}

}  // namespace

std::vector<MainGap> FindMainGaps(const RankView& view, std::span<const uint32_t> tracks) {
  const std::vector<uint32_t> small = FindSmallThreads(view, tracks);
  if (small.empty()) {
    return {};
  }
  const std::vector<int64_t> ends = SmallEnds(view, tracks, small);
  std::vector<MainGap> gaps;
  for (const StreamGap& gap : FindStreamGaps(view, tracks, 0, small).gaps) {
    gaps.push_back({gap, IsAfterOne(ends, gap.time)});
  }
  return gaps;
}

}  // namespace borescope::internal
