#include "borescope/analysis/verbs/timeline/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/verbs/timeline/depths.h"
#include "borescope/base/stop.h"

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
    for (uint32_t row = trace_.tracks().first_row[track]; row < trace_.tracks().end_row[track];
         ++row) {
      CheckStopAt(row);
      if (selected_.Keeps(RowId{row})) {
        rows.push_back(row);
      }
    }
    return rows;
  }

  // How many events of the device each track launches.
  std::vector<size_t> LaunchesOfTracks() const {
    std::vector<size_t> launches(trace_.tracks().size(), 0);
    for (uint32_t row = 0; row < trace_.device().size(); ++row) {
      CheckStopAt(row);
      const HostId call = view_.index.correlation.launch_of[row];
      if (call.valid() && !trace_.host().IsCaptured(call)) {
        ++launches[trace_.host().track[call.value].value];
      }
    }
    return launches;
  }

  // Those that launch come first, by process and then by thread, of these the busy ones. What is of
  // no process comes last.
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
    for (uint32_t row = 0; row < device.size(); ++row) {
      CheckStopAt(row);
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

}  // namespace borescope::internal
