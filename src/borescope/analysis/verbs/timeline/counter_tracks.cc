// What counts over time: memory of devices, queues of streams, and samples of a monitor.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/queue_lengths.h"
#include "borescope/analysis/verbs/timeline/tracks.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int32_t kCpuMemory = 0;

void AddPoint(CounterTrack& track, int64_t ts_ns, double value) {
  track.ts_ns.push_back(ts_ns);
  track.value.push_back(value);
}

CounterTrack NewCounter(std::string name, std::string parent, std::string unit) {
  CounterTrack track;
  track.drawn = {.role = TrackRole::kCounter,
                 .name = std::move(name),
                 .parent = std::move(parent),
                 .unit = std::move(unit)};
  return track;
}

void AddUnlessEmpty(CounterTrack track, std::vector<CounterTrack>& to) {
  track.drawn.events = static_cast<int64_t>(track.ts_ns.size());
  if (!track.ts_ns.empty()) {
    to.push_back(std::move(track));
  }
}

std::string MemoryOwner(int32_t device_type, int32_t device) {
  if (device_type == kCpuMemory) {
    return "host";
  }
  return device < 0 ? std::string("device") : fmt::format("GPU {}", device);
}

// What of a device's memory is in use and held, after every allocator event.
struct MemoryCounters {
  CounterTrack allocated;
  CounterTrack reserved;
  int64_t allocated_bytes = 0;
};

void AddMemory(const RankView& view, const Selected& selected, std::vector<CounterTrack>& to) {
  const MemoryEvents& memory = view.trace.memory();
  std::map<std::pair<int32_t, int32_t>, MemoryCounters> devices;
  for (size_t i = 0; i < memory.size(); ++i) {
    CheckStopAt(i);
    MemoryCounters& device = devices[{memory.device_type[i], memory.device[i]}];
    device.allocated_bytes = memory.total_allocated[i] != kMissing
                                 ? memory.total_allocated[i]
                                 : AddSaturating(device.allocated_bytes, memory.bytes[i]);
    if (memory.ts_ns[i] == kMissing || !selected.KeepsTime(memory.ts_ns[i])) {
      continue;
    }
    AddPoint(device.allocated, memory.ts_ns[i], static_cast<double>(device.allocated_bytes));
    if (memory.total_reserved[i] != kMissing) {
      AddPoint(device.reserved, memory.ts_ns[i], static_cast<double>(memory.total_reserved[i]));
    }
  }
  for (auto& [key, device] : devices) {
    const std::string owner = MemoryOwner(key.first, key.second);
    device.allocated.drawn = NewCounter("memory allocated", owner, "bytes").drawn;
    device.reserved.drawn = NewCounter("memory reserved", owner, "bytes").drawn;
    AddUnlessEmpty(std::move(device.allocated), to);
    AddUnlessEmpty(std::move(device.reserved), to);
  }
}

// As short as the name of its stream.
std::string NameOfQueue(const StreamQueue& queue) {
  return queue.process == kMissing ? fmt::format("queue of stream {}", queue.stream)
                                   : fmt::format("queue {}, pid {}", queue.stream, queue.process);
}

void AddQueues(const RankView& view, const Selected& selected, std::vector<CounterTrack>& to) {
  for (const StreamQueue& queue : FindQueues(view, selected)) {
    CounterTrack track =
        NewCounter(NameOfQueue(queue), fmt::format("GPU {}", queue.gpu), "launches");
    for (const QueueChange& change : queue.changes) {
      if (selected.KeepsTime(change.ts_ns)) {
        AddPoint(track, change.ts_ns, static_cast<double>(change.length));
      }
    }
    AddUnlessEmpty(std::move(track), to);
  }
}

// What a sampled device is named. Monitors may count GPUs in an order of their own, so that a
// number that no stream has need not be the GPU that others call so.
std::string SampledOwner(const Trace& trace, std::string_view type, int64_t device) {
  if (device == kMissing) {
    return std::string(type);
  }
  if (type != "gpu") {
    return fmt::format("{} {}", type, device);
  }
  const Tracks& tracks = trace.tracks();
  bool has_streams = false;
  for (size_t track = 0; track < tracks.size(); ++track) {
    const bool is_stream = tracks.kind[track] == TrackKind::kDevice;
    if (is_stream && tracks.pid[track] == device) {
      return fmt::format("GPU {}", device);
    }
    has_streams = has_streams || is_stream;
  }
  return fmt::format("GPU {}{}", device, has_streams ? " of the monitor" : "");
}

// By device and name; values hold until the next.
void AddSamples(const RankView& view, const Selected& selected, std::vector<CounterTrack>& to) {
  const Samples& samples = view.trace.samples();
  std::map<std::tuple<std::string_view, int64_t, std::string_view>, CounterTrack> counters;
  for (size_t i = 0; i < samples.size(); ++i) {
    CheckStopAt(i);
    if (!selected.KeepsTime(samples.ts_ns[i])) {
      continue;
    }
    const std::string_view type = view.trace.Text(samples.device_type[i]);
    const std::string_view name = view.trace.Text(samples.name[i]);
    AddPoint(counters[{type, samples.device[i], name}], samples.ts_ns[i], samples.value[i]);
  }
  for (auto& [key, track] : counters) {
    const auto& [type, device, name] = key;
    track.drawn = NewCounter(std::string(name), SampledOwner(view.trace, type, device), "").drawn;
    AddUnlessEmpty(std::move(track), to);
  }
}

// Monitors need not sample in the order of time.
void SortPoints(CounterTrack& track) {
  if (std::is_sorted(track.ts_ns.begin(), track.ts_ns.end())) {
    return;
  }
  std::vector<std::pair<int64_t, double>> points;
  points.reserve(track.ts_ns.size());
  for (size_t i = 0; i < track.ts_ns.size(); ++i) {
    points.emplace_back(track.ts_ns[i], track.value[i]);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < points.size(); ++i) {
    std::tie(track.ts_ns[i], track.value[i]) = points[i];
  }
}

}  // namespace

std::vector<CounterTrack> FindCounters(const RankView& view, const Selected& selected) {
  std::vector<CounterTrack> counters;
  AddMemory(view, selected, counters);
  AddQueues(view, selected, counters);
  AddSamples(view, selected, counters);
  for (CounterTrack& track : counters) {
    SortPoints(track);
  }
  return counters;
}

}  // namespace borescope::internal
