#include "borescope/analysis/verbs/timeline/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/measures/queue_lengths.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// Finds the depths of the rows, which come by time, sorts them by depth, and measures the track.
void ArrangeRows(const EventColumns& columns, EventTrack& track) {
  DepthFinder finder;
  std::vector<uint32_t> depths;
  depths.reserve(track.rows.size());
  int64_t covered_ns = std::numeric_limits<int64_t>::min();
  for (const uint32_t row : track.rows) {
    CheckStopAt(row);
    const int64_t begin_ns = columns.begin_ns[row];
    const int64_t end_ns = begin_ns + columns.dur_ns[row];
    depths.push_back(finder.Place(begin_ns, end_ns));
    track.drawn.busy_ns += std::max<int64_t>(0, end_ns - std::max(begin_ns, covered_ns));
    covered_ns = std::max(covered_ns, end_ns);
  }
  track.depth_begin.assign(finder.depths() + 1, 0);
  for (const uint32_t depth : depths) {
    ++track.depth_begin[depth + 1];
  }
  for (size_t depth = 0; depth < finder.depths(); ++depth) {
    track.depth_begin[depth + 1] += track.depth_begin[depth];
  }
  std::vector<uint32_t> next(track.depth_begin.begin(), track.depth_begin.end() - 1);
  std::vector<uint32_t> by_depth(track.rows.size());
  for (size_t i = 0; i < track.rows.size(); ++i) {
    by_depth[next[depths[i]]++] = track.rows[i];
  }
  track.rows = std::move(by_depth);
  track.drawn.depths = static_cast<int64_t>(finder.depths());
  track.drawn.events = static_cast<int64_t>(track.rows.size());
}

// Numbers below 0 mean none in recordings.
std::string NumberOr(std::string_view word, int64_t number) {
  return number < 0 ? std::string(word) : fmt::format("{} {}", word, number);
}

// Threads often share a name: their numbers distinguish them. Some recorders give events of their
// own, which are of no process, the thread 0.
std::string NameOfThread(const Trace& trace, uint32_t track) {
  const int64_t tid = trace.tracks().tid[track];
  const std::string_view name = trace.Text(trace.tracks().name[track]);
  const bool has_number = tid > 0 || (tid == 0 && trace.tracks().pid[track] >= 0);
  if (name.empty()) {
    return has_number ? fmt::format("thread {}", tid) : "no thread";
  }
  const bool says_number = tid <= 0 || name.find(std::to_string(tid)) != std::string_view::npos;
  return says_number ? std::string(name) : fmt::format("thread {} ({})", tid, name);
}

DrawnTrack DescribeThread(const Trace& trace, uint32_t track) {
  const Tracks& tracks = trace.tracks();
  DrawnTrack drawn{.role = TrackRole::kThread};
  drawn.name = NameOfThread(trace, track);
  drawn.name += tracks.is_async[track] != 0 ? " (asynchronous)" : "";
  drawn.parent =
      tracks.pid[track] < 0 ? "no process" : fmt::format("process {}", tracks.pid[track]);
  return drawn;
}

DrawnTrack DescribeStream(const Trace& trace, uint32_t track) {
  const Tracks& tracks = trace.tracks();
  DrawnTrack drawn{.role = TrackRole::kStream};
  drawn.name = NumberOr("stream", tracks.tid[track]);
  if (tracks.process[track] != kMissing) {
    drawn.name += fmt::format(", pid {}", tracks.process[track]);  // short: labels are cut off
  }
  drawn.parent = NumberOr("GPU", tracks.pid[track]);
  return drawn;
}

// Finds the tracks of one rank, kind by kind.
class TrackFinder {
 public:
  TrackFinder(const RankView& view, const Selected& selected)
      : view_(view), selected_(selected), trace_(view.trace) {}

  RankTracks Find(const Params& params) {
    found_.path = FindPath(view_, selected_, params);
    AddSteps();
    AddPath();
    AddThreads();
    AddStreams();
    AddGroups();
    found_.counters = FindCounters(view_, selected_);
    NumberSources();
    return std::move(found_);
  }

 private:
  void Add(EventTrack track) {
    if (track.rows.empty()) {
      return;
    }
    ArrangeRows(found_.ColumnsOf(trace_, track.side), track);
    found_.events.push_back(std::move(track));
  }

  void AddSteps() {
    EventTrack track{.drawn = {.role = TrackRole::kSteps, .name = "steps"}};
    for (const uint32_t step : selected_.steps()) {
      track.rows.push_back(view_.steps().steps[step].annotation.value);
    }
    const HostEvents& host = trace_.host();
    std::stable_sort(track.rows.begin(), track.rows.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(host.ts_ns[a], -host.dur_ns[a]) < std::pair(host.ts_ns[b], -host.dur_ns[b]);
    });
    Add(std::move(track));
  }

  void AddPath() {
    EventTrack track{.drawn = {.role = TrackRole::kPath, .name = "critical path"},
                     .side = EventSide::kPath};
    track.rows.resize(found_.path.begin_ns.size());
    for (uint32_t row = 0; row < track.rows.size(); ++row) {
      track.rows[row] = row;
    }
    Add(std::move(track));
  }

  // Rows of the slice of a track that are kept.
  template <class RowId>
  std::vector<uint32_t> RowsOf(uint32_t track) const {
    std::vector<uint32_t> rows;
    for (const uint32_t row :
         EachRow(trace_.tracks().first_row[track], trace_.tracks().end_row[track])) {
      if (selected_.Keeps(RowId{row})) {
        rows.push_back(row);
      }
    }
    return rows;
  }

  // How many events of the device each track launches.
  std::vector<size_t> LaunchesOfTracks() const {
    std::vector<size_t> launches(trace_.tracks().size(), 0);
    for (const uint32_t row : EachRow(trace_.device().size())) {
      const HostId call = view_.index.correlation.launch_of[row];
      if (call.valid() && !trace_.host().IsCaptured(call)) {
        ++launches[trace_.host().track[call.value].value];
      }
    }
    return launches;
  }

  // Threads that launch come first, by process and then by thread, then the busy ones. What belongs
  // to no process comes last.
  void SortThreads(std::vector<EventTrack>& threads) const {
    const Tracks& tracks = trace_.tracks();
    const std::vector<size_t> launches = LaunchesOfTracks();
    std::map<int64_t, bool> launching;  // by process
    for (const EventTrack& thread : threads) {
      bool& is_launching = launching[tracks.pid[thread.source.value]];
      is_launching = is_launching || launches[thread.source.value] > 0;
    }
    const auto key = [&](const EventTrack& thread) {
      const int64_t pid = tracks.pid[thread.source.value];
      const int place = launching.at(pid) ? 0 : pid > 0 ? 1 : pid == 0 ? 2 : 3;
      return std::tuple(place, pid, launches[thread.source.value] == 0,
                        SIZE_MAX - thread.rows.size());
    };
    std::stable_sort(threads.begin(), threads.end(),
                     [&](const EventTrack& a, const EventTrack& b) { return key(a) < key(b); });
  }

  void AddThreads() {
    std::vector<EventTrack> threads;
    for (uint32_t track = 0; track < trace_.tracks().size(); ++track) {
      if (trace_.tracks().kind[track] == TrackKind::kHost) {
        threads.push_back({.drawn = DescribeThread(trace_, track),
                           .source = TrackId{track},
                           .rows = RowsOf<HostId>(track)});
      }
    }
    SortThreads(threads);
    for (EventTrack& thread : threads) {
      Add(std::move(thread));
    }
  }

  void AddStreams() {
    const Tracks& tracks = trace_.tracks();
    std::vector<uint32_t> streams;
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        streams.push_back(track);
      }
    }
    std::stable_sort(streams.begin(), streams.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(tracks.pid[a], tracks.tid[a]) < std::tuple(tracks.pid[b], tracks.tid[b]);
    });
    for (const uint32_t track : streams) {
      Add({.drawn = DescribeStream(trace_, track),
           .side = EventSide::kDevice,
           .source = TrackId{track},
           .rows = RowsOf<DeviceId>(track)});
    }
  }

  // The group of a communication kernel, and how it is described.
  std::pair<std::string_view, std::string_view> GroupOf(uint32_t args) const {
    const Collectives& collectives = trace_.collectives();
    return {trace_.Text(collectives.group[args]), trace_.Text(collectives.group_desc[args])};
  }

  void AddGroups() {
    std::map<std::pair<std::string_view, std::string_view>, std::vector<uint32_t>> groups;
    const DeviceEvents& device = trace_.device();
    for (const uint32_t row : EachRow(device.size())) {
      const DeviceId id{row};
      if (device.kind[row] != DeviceKind::kKernel ||
          view_.index.ClassOf(trace_, id) != KernelClass::kCollective || !selected_.Keeps(id)) {
        continue;
      }
      const uint32_t args = CollectiveArgsOf(view_, id);
      if (args != kNoDetail && !GroupOf(args).first.empty()) {
        groups[GroupOf(args)].push_back(row);
      }
    }
    for (auto& [group, rows] : groups) {
      AddGroup(group.first, group.second, std::move(rows));
    }
  }

  void AddGroup(std::string_view name, std::string_view description, std::vector<uint32_t> rows) {
    const DeviceEvents& device = trace_.device();
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(device.ts_ns[a], -device.dur_ns[a]) <
             std::pair(device.ts_ns[b], -device.dur_ns[b]);
    });
    EventTrack track{
        .drawn = {.role = TrackRole::kGroup}, .side = EventSide::kDevice, .rows = std::move(rows)};
    track.drawn.name = description.empty() || description == name
                           ? fmt::format("group {}", name)
                           : fmt::format("group {} ({})", name, description);
    Add(std::move(track));
  }

  void NumberSources() {
    found_.track_of_source.assign(trace_.tracks().size(), kMissing);
    for (size_t track = 0; track < found_.events.size(); ++track) {
      if (const TrackId source = found_.events[track].source; source.valid()) {
        found_.track_of_source[source.value] = static_cast<int64_t>(track);
      }
    }
  }

  const RankView& view_;
  const Selected& selected_;
  const Trace& trace_;
  RankTracks found_;
};

Tone HostTone(const Trace& trace, uint32_t row) {
  switch (trace.host().kind[row]) {
    case HostKind::kPython:
      return Tone::kFlamePython;
    case HostKind::kAnnotation:
      return Tone::kFlameAnnotation;
    case HostKind::kOp:
      return Tone::kFlameOp;
    case HostKind::kRuntime:
      return Tone::kHost;
    case HostKind::kOther:
      break;
  }
  return Tone::kFlameOther;
}

Tone DeviceTone(const RankView& view, uint32_t row) {
  switch (
      ActivityOf(view.trace.device().kind[row], view.index.ClassOf(view.trace, DeviceId{row}))) {
    case Activity::kCommunication:
      return Tone::kComm;
    case Activity::kCopy:
      return Tone::kCopy;
    case Activity::kCompute:
      break;
  }
  return Tone::kCompute;
}

}  // namespace

EventColumns RankTracks::ColumnsOf(const Trace& trace, EventSide side) const {
  switch (side) {
    case EventSide::kHost:
      return {trace.host().ts_ns.data(), trace.host().dur_ns.data(), trace.host().name.data()};
    case EventSide::kDevice:
      return {trace.device().ts_ns.data(), trace.device().dur_ns.data(),
              trace.device().name.data()};
    case EventSide::kPath:
      break;
  }
  return {path.begin_ns.data(), path.dur_ns.data(), path.name.data()};
}

RankTracks FindTracks(const RankView& view, const Selected& selected, const Params& params) {
  return TrackFinder(view, selected).Find(params);
}

Tone ToneOf(const RankView& view, const PathEvents& path, EventSide side, uint32_t row) {
  switch (side) {
    case EventSide::kHost:
      return HostTone(view.trace, row);
    case EventSide::kDevice:
      return DeviceTone(view, row);
    case EventSide::kPath:
      break;
  }
  return path.tone[row];
}

namespace {

// What counts over time: memory of devices, queues of streams, and samples of a monitor.

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
  for (const size_t i : EachIndex(memory.size())) {
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
  for (const size_t i : EachIndex(samples.size())) {
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

namespace {

// The critical path as a row of the timeline.

// As the palette of causes has them.
constexpr std::array<Tone, static_cast<size_t>(BoundBy::kCount)> kToneOfCause = {
    Tone::kHost, Tone::kData, Tone::kHost, Tone::kDevice, Tone::kCompute,
    Tone::kComm, Tone::kCopy, Tone::kSync, Tone::kFaint};

StringId NameOfStep(const Trace& trace, const PathStep& step) {
  if (step.event == kNoEvent || step.side == NodeSide::kNone) {
    return BetweenEvents(trace);
  }
  return step.side == NodeSide::kHost ? trace.host().name[step.event]
                                      : trace.device().name[step.event];
}

}  // namespace

PathEvents FindPath(const RankView& view, const Selected& selected, const Params& params) {
  PathEvents path;
  if (view.trace.host().size() + view.trace.device().size() == 0) {
    return path;
  }
  const std::shared_ptr<const PathGraph> graph = SharedPathGraph(view, params);
  for (const PathStep& step : graph->StepsIn(view, graph->WindowsOf(view, selected))) {
    if (step.end_ns <= step.begin_ns) {
      continue;
    }
    path.begin_ns.push_back(step.begin_ns);
    path.dur_ns.push_back(step.end_ns - step.begin_ns);
    path.name.push_back(NameOfStep(view.trace, step));
    path.tone.push_back(kToneOfCause[static_cast<size_t>(step.bound_by)]);
    path.bound_by.push_back(BoundByName(step.bound_by));
    path.event.push_back(step.side == NodeSide::kNone ? kNoEvent : step.event);
    path.is_host.push_back(step.side == NodeSide::kHost ? 1 : 0);
  }
  return path;
}

namespace {

// As many events are drawn as they are, whatever steps there are.
constexpr int64_t kFewEvents = 20'000;
constexpr size_t kStretches = 32;
constexpr int64_t kSlackParts = 10;  // of its length, on each side

int64_t CountEvents(const RankTracks& tracks) {
  int64_t events = 0;
  for (const EventTrack& track : tracks.events) {
    events += track.drawn.events;
  }
  for (const CounterTrack& track : tracks.counters) {
    events += track.drawn.events;
  }
  return events;
}

// A step that is drawn, from completion to completion.
struct DrawnStep {
  int64_t number = kMissing;
  Interval time;
};

// None without selected steps.
std::optional<DrawnStep> SlowestStep(const RankView& view, const Selected& selected) {
  constexpr size_t kFew = 3;  // of fewer the first counts, too
  const std::vector<uint32_t>& steps = selected.steps();
  if (steps.empty()) {
    return std::nullopt;
  }
  const std::vector<Interval> times = StepTimes(view, SharedClockedSyncs(view)->clocks);
  std::optional<DrawnStep> slowest;
  for (size_t i = steps.size() < kFew ? 0 : 1; i < steps.size(); ++i) {
    const Interval& time = times[steps[i]];
    if (!slowest || time.length() > slowest->time.length()) {
      slowest = {view.steps().steps[steps[i]].number, time};
    }
  }
  return slowest;
}

using Stretches = std::array<int64_t, kStretches>;

void AddWork(int64_t begin_ns, int64_t end_ns, int64_t length_ns, Stretches& work) {
  size_t stretch = std::min<size_t>(kStretches - 1, static_cast<size_t>(begin_ns / length_ns));
  for (; stretch < kStretches; ++stretch) {
    const int64_t first_ns = static_cast<int64_t>(stretch) * length_ns;
    const int64_t part_ns = std::min(end_ns, first_ns + length_ns) - std::max(begin_ns, first_ns);
    if (part_ns <= 0) {
      break;
    }
    AddSaturatingTo(work[stretch], part_ns);
  }
}

// How much of the work of streams or threads is in each stretch; of threads the outermost events.
Stretches WorkOf(const RankView& view, const RankTracks& tracks, TrackRole role,
                 int64_t length_ns) {
  Stretches work{};
  for (const EventTrack& track : tracks.events) {
    if (track.drawn.role != role) {
      continue;
    }
    const EventColumns columns = tracks.ColumnsOf(view.trace, track.side);
    for (const uint32_t i : EachRow(track.depth_begin[1])) {
      const int64_t begin_ns = columns.begin_ns[track.rows[i]] - view.trace.begin_ns();
      AddWork(begin_ns, begin_ns + columns.dur_ns[track.rows[i]], length_ns, work);
    }
  }
  return work;
}

DrawnWindow WithSlack(int64_t begin_ns, int64_t end_ns, int64_t span_ns, std::string why) {
  const int64_t slack_ns = (end_ns - begin_ns) / kSlackParts;
  return {std::max<int64_t>(0, begin_ns - slack_ns), std::min(span_ns, end_ns + slack_ns),
          std::move(why)};
}

DrawnWindow BusiestStretch(const RankView& view, const RankTracks& tracks) {
  const int64_t span_ns = view.trace.span_ns();
  const int64_t length_ns = span_ns / static_cast<int64_t>(kStretches) + 1;
  for (const TrackRole role : {TrackRole::kStream, TrackRole::kThread}) {
    const Stretches work = WorkOf(view, tracks, role, length_ns);
    const auto* most = std::max_element(work.begin(), work.end());
    if (*most > 0) {
      const int64_t begin_ns = (most - work.begin()) * length_ns;
      return WithSlack(begin_ns, std::min(span_ns, begin_ns + length_ns), span_ns,
                       role == TrackRole::kStream ? "most device work" : "most work of threads");
    }
  }
  return {0, span_ns, std::string(kAllWindow)};
}

// Where findings have their evidence: on the clock of the file, what is there.
struct EvidencePlace {
  Interval time;
  std::string what;
};

// Of each kind of time the longest stretches: one device may be left out of a finding.
constexpr size_t kPlacesOfKind = 2;

void KeepLongest(std::vector<EvidencePlace>& places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.time.length() > b.time.length(); });
  std::map<std::string, size_t> kept;
  std::erase_if(places, [&](const auto& place) { return ++kept[place.what] > kPlacesOfKind; });
}

Result<std::vector<EvidencePlace>> PlacesOfIdle(const RankView& view, const Params& params) {
  std::vector<EvidencePlace> places;
  const std::shared_ptr<const Result<IdleTimes>> idle = SharedIdleTimes(view, params.selection);
  if (!idle->ok()) {
    return idle->error();
  }
  const Table& table = GetTable((*idle)->tables, "idle_places");
  for (size_t row = 0; row < table.rows(); ++row) {
    std::string_view cause = Texts(table, "cause")[row];
    cause.remove_suffix(cause.ends_with("_ns") ? 3 : 0);
    places.push_back({{Ints(table, "begin_ns")[row], Ints(table, "end_ns")[row]},
                      fmt::format("longest idle time: {}", cause)});
  }
  KeepLongest(places);
  return places;
}

std::vector<EvidencePlace> PlacesOfWork(const RankView& view, const Selected& selected) {
  std::vector<EvidencePlace> places;
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kGpu);
  for (const DeviceTime& time : *times) {
    const IntervalSet windows = selected.TimeOf(time.tracks);
    const auto add = [&](const IntervalSet& exposed, std::string_view what) {
      const IntervalSet parts = Intersect(exposed, windows);
      const auto longest = std::max_element(
          parts.begin(), parts.end(),
          [](const Interval& a, const Interval& b) { return a.length() < b.length(); });
      if (longest != parts.end()) {
        places.push_back({*longest, std::string(what)});
      }
    };
    add(time.exposed_comm, "longest exposed communication");
    add(time.exposed_copy, "longest exposed copy");
  }
  KeepLongest(places);
  return places;
}

// The longest of each of the kernels that take the most time: findings about a kernel lead there.
std::vector<EvidencePlace> PlacesOfKernels(const RankView& view, const Selected& selected) {
  constexpr size_t kMostKernels = 3;
  struct KernelSum {
    int64_t sum_ns = 0;
    Interval longest = {};
  };
  const DeviceEvents& device = view.trace.device();
  std::vector<KernelSum> sums(view.trace.strings().size());
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kKernel && selected.Keeps(DeviceId{row})) {
      KernelSum& sum = sums[device.name[row].value];
      AddSaturatingTo(sum.sum_ns, device.dur_ns[row]);
      if (device.dur_ns[row] > sum.longest.length()) {
        sum.longest = {device.ts_ns[row], AddSaturating(device.ts_ns[row], device.dur_ns[row])};
      }
    }
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const KernelSum& a, const KernelSum& b) { return a.sum_ns > b.sum_ns; });
  std::vector<EvidencePlace> places;
  for (size_t i = 0; i < std::min(kMostKernels, sums.size()) && sums[i].sum_ns > 0; ++i) {
    places.push_back({sums[i].longest, "longest run of a kernel with much time"});
  }
  return places;
}

}  // namespace

namespace {

// Of two values after each other: where a place begins, and where it ends.
constexpr std::string_view kFirstPlace = "timeline_first";

std::vector<Interval> PlacesToDrawFirst(const Params& params) {
  std::vector<Interval> places;
  std::optional<int64_t> begin_ns;
  for (const ParamValue& value : params.values) {
    if (value.name != kFirstPlace) {
      continue;
    }
    if (begin_ns.has_value()) {
      places.push_back({*begin_ns, value.number});
      begin_ns.reset();
    } else {
      begin_ns = value.number;
    }
  }
  return places;
}

}  // namespace

void DrawFirst(std::span<const Interval> places, Params& params) {
  for (const Interval& place : places) {
    params.values.push_back({kFirstPlace, place.begin, ""});
    params.values.push_back({kFirstPlace, place.end, ""});
  }
}

Result<std::vector<DrawnWindow>> ChooseWindows(const RankView& view, const Selected& selected,
                                               const Params& params, const RankTracks& tracks) {
  const int64_t origin_ns = view.trace.begin_ns();
  const int64_t span_ns = view.trace.span_ns();
  std::vector<DrawnWindow> windows;
  if (CountEvents(tracks) > kFewEvents) {
    const std::optional<DrawnStep> step = SlowestStep(view, selected);
    windows.push_back(step ? WithSlack(step->time.begin - origin_ns, step->time.end - origin_ns,
                                       span_ns, fmt::format("slowest step: {}", step->number))
                           : BusiestStretch(view, tracks));
    BS_ASSIGN(const std::vector<EvidencePlace> idle, PlacesOfIdle(view, params));
    for (const auto& places :
         {idle, PlacesOfWork(view, selected), PlacesOfKernels(view, selected)}) {
      for (const EvidencePlace& place : places) {
        windows.push_back(WithSlack(SubtractSaturating(place.time.begin, origin_ns),
                                    SubtractSaturating(place.time.end, origin_ns), span_ns,
                                    place.what));
      }
    }
    std::erase_if(windows, [](const DrawnWindow& window) { return window.length_ns() <= 0; });
    std::stable_sort(windows.begin(), windows.end(),
                     [](const auto& a, const auto& b) { return a.length_ns() < b.length_ns(); });
    std::vector<DrawnWindow> first;
    for (const Interval& place : PlacesToDrawFirst(params)) {
      first.push_back(WithSlack(SubtractSaturating(place.begin, origin_ns),
                                SubtractSaturating(place.end, origin_ns), span_ns,
                                std::string(kFindingWindow)));
    }
    std::erase_if(first, [](const DrawnWindow& window) { return window.length_ns() <= 0; });
    windows.insert(windows.begin(), std::make_move_iterator(first.begin()),
                   std::make_move_iterator(first.end()));
  }
  windows.push_back({0, span_ns, std::string(kAllWindow)});
  return windows;
}

}  // namespace borescope::internal
