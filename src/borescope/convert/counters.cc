#include "borescope/convert/counters.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"

namespace borescope::internal {
namespace {

// The last of several points at the same time counts.
void Add(std::vector<CounterPoint>& points, CounterPoint point) {
  if (!points.empty() && points.back().ts_ns == point.ts_ns) {
    points.back() = point;
  } else {
    points.push_back(point);
  }
}

// REQUIRES: both are sorted, of equal length, and as many began as ended by any time.
std::vector<CounterPoint> Depths(std::span<const int64_t> begins, std::span<const int64_t> ends) {
  std::vector<CounterPoint> points;
  points.reserve(begins.size() + ends.size());
  size_t begun = 0;
  size_t ended = 0;
  while (ended < ends.size()) {
    const bool begins_next = begun < begins.size() && begins[begun] <= ends[ended];
    const int64_t ts_ns = begins_next ? begins[begun] : ends[ended];
    (begins_next ? begun : ended) += 1;
    Add(points, {ts_ns, static_cast<int64_t>(begun - ended)});
  }
  return points;
}

// The points within the window; the last value before it counts from its begin.
std::vector<CounterPoint> Within(const TimeWindow& window, std::vector<CounterPoint> points) {
  const auto first = std::find_if(points.begin(), points.end(), [&](const CounterPoint& point) {
    return point.ts_ns > window.begin_ns;
  });
  if (first != points.begin()) {
    std::prev(first)->ts_ns = std::max(std::prev(first)->ts_ns, window.begin_ns);
    points.erase(points.begin(), std::prev(first));
  }
  std::erase_if(points, [&](const CounterPoint& point) { return point.ts_ns > window.end_ns; });
  return points;
}

template <class Fn>
void ForEachWork(const ConvertInput& input, TrackId track, const Fn& fn) {
  const Tracks& tracks = input.trace.tracks();
  const DeviceEvents& device = input.trace.device();
  for (const uint32_t row : EachRow(tracks.first_row[track.value], tracks.end_row[track.value])) {
    if (IsDeviceWork(device.kind[row]) && input.Keeps(DeviceId{row})) {
      fn(DeviceId{row});
    }
  }
}

}  // namespace

std::vector<CounterPoint> QueueDepth(const ConvertInput& input, TrackId track) {
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  ForEachWork(input, track, [&](DeviceId id) {
    const HostId launch = input.index.correlation.launch_of[id.value];
    if (launch.valid()) {
      begins.push_back(
          std::min(input.trace.host().ts_ns[launch.value], input.trace.device().ts_ns[id.value]));
      ends.push_back(input.trace.device().end_ns(id));
    }
  });
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  return Within(input.window, Depths(begins, ends));
}

std::vector<DeviceTracks> DevicesOf(const Trace& trace) {
  const Tracks& tracks = trace.tracks();
  std::vector<DeviceTracks> devices;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDevice) {
      continue;
    }
    if (devices.empty() || devices.back().device != tracks.pid[track]) {
      devices.push_back({tracks.pid[track], track, track});  // in the order of (kind, pid, tid)
    }
    devices.back().end_track = track + 1;
  }
  return devices;
}

std::vector<CounterPoint> BusySteps(const ConvertInput& input, const DeviceTracks& device) {
  std::vector<Interval> work;
  for (uint32_t track = device.first_track; track < device.end_track; ++track) {
    ForEachWork(input, {track}, [&](DeviceId id) {
      work.push_back({input.trace.device().ts_ns[id.value], input.trace.device().end_ns(id)});
    });
  }
  std::vector<CounterPoint> points;
  const IntervalSet busy = Union(std::move(work));
  points.reserve(2 * busy.size());
  for (const Interval& part : busy) {
    points.push_back({part.begin, 1});
    points.push_back({part.end, 0});
  }
  return Within(input.window, std::move(points));
}

std::string MonitorName(const Trace& trace, size_t sample) {
  const Samples& samples = trace.samples();
  std::string name(trace.Text(samples.device_type[sample]));
  if (samples.device[sample] != kMissing) {
    name += (name.empty() ? "" : " ") + std::to_string(samples.device[sample]);
  }
  name += name.empty() ? "" : " ";
  name += trace.Text(samples.name[sample]);
  return name;
}

}  // namespace borescope::internal
