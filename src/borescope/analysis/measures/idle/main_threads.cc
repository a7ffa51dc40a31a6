#include "borescope/analysis/measures/idle/main_threads.h"

#include <algorithm>

#include "borescope/analysis/measures/idle/idle_division.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int64_t kSmallPart = 10;  // one of so many parts

// Per track of the trace: the time of work that it launched on `tracks`; kMissing: launched none.
std::vector<int64_t> LaunchedTimes(const RankView& view, std::span<const uint32_t> tracks) {
  const Tracks& all = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::vector<int64_t> times(all.size(), kMissing);
  for (const uint32_t track : tracks) {
    for (uint32_t row = all.first_row[track]; row < all.end_row[track]; ++row) {
      CheckStopAt(row);
      const HostId launch = view.index.correlation.launch_of[row];
      if (IsDeviceWork(device.kind[row]) && launch.valid()) {
        int64_t& time = times[view.trace.host().track[launch.value].value];
        time = AddSaturating(std::max(time, int64_t{0}), device.dur_ns[row]);
      }
    }
  }
  return times;
}

// Per track of the trace: 1, or 0 for a thread with small work alone; empty: there is none.
std::vector<uint8_t> FindMainThreads(const RankView& view, std::span<const uint32_t> tracks) {
  const std::vector<int64_t> times = LaunchedTimes(view, tracks);
  const int64_t longest_ns = times.empty() ? 0 : *std::max_element(times.begin(), times.end());
  std::vector<uint8_t> is_main(times.size(), 1);
  for (size_t track = 0; track < times.size(); ++track) {
    is_main[track] = times[track] == kMissing || times[track] >= longest_ns / kSmallPart ? 1 : 0;
  }
  const bool has_small = std::find(is_main.begin(), is_main.end(), 0) != is_main.end();
  return has_small ? is_main : std::vector<uint8_t>();
}

// When work of the other threads ended, sorted.
std::vector<int64_t> SmallEnds(const RankView& view, std::span<const uint32_t> tracks,
                               std::span<const uint8_t> is_main) {
  const Tracks& all = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::vector<int64_t> ends;
  for (const uint32_t track : tracks) {
    for (uint32_t row = all.first_row[track]; row < all.end_row[track]; ++row) {
      CheckStopAt(row);
      const HostId launch = view.index.correlation.launch_of[row];
      if (IsDeviceWork(device.kind[row]) && launch.valid() &&
          is_main[view.trace.host().track[launch.value].value] == 0) {
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
  const std::vector<uint8_t> is_main = FindMainThreads(view, tracks);
  if (is_main.empty()) {
    return {};
  }
  const std::vector<int64_t> ends = SmallEnds(view, tracks, is_main);
  std::vector<MainGap> gaps;
  for (const StreamGap& gap : FindStreamGaps(view, tracks, 0, is_main).gaps) {
    gaps.push_back({gap, IsAfterOne(ends, gap.time)});
  }
  return gaps;
}

}  // namespace borescope::internal
