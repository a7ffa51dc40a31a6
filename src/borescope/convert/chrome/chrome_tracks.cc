#include "borescope/convert/chrome/chrome_tracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "borescope/output/json_writer.h"

namespace borescope::internal {
namespace {

// GPUs stand below the processes; the producer's own number.
constexpr int64_t kFirstDeviceOrder = 5'000'000;

bool IsSameLine(const Tracks& tracks, uint32_t a, uint32_t b) {
  return tracks.kind[a] == tracks.kind[b] && tracks.pid[a] == tracks.pid[b] &&
         tracks.tid[a] == tracks.tid[b];
}

void WriteMetadata(std::string_view name, int64_t pid, int64_t tid, std::string_view args,
                   ChromeText& text) {
  text.StartEvent();
  text.Put(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", name, pid,
                       tid, args));
}

std::string NameArg(std::string_view key, std::string_view name) {
  std::string arg = fmt::format("\"{}\":", key);
  AppendJsonString(arg, name);
  return arg;
}

}  // namespace

ChromeTracks::ChromeTracks(const Trace& trace, std::string_view source)
    : trace_(trace), source_(source) {
  const Tracks& tracks = trace.tracks();
  OwnThreads own(tracks);
  threads_.reserve(tracks.size());
  places_.reserve(tracks.size());
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_taken =
        track > 0 && IsSameLine(tracks, track - 1, track) && tracks.is_async[track] == 0;
    threads_.push_back(is_taken ? own.Next() : tracks.tid[track]);
    places_.push_back(
        fmt::format(R"(,"pid":{},"tid":{},"ts":)", tracks.pid[track], threads_.back()));
  }
}

void ChromeTracks::WriteNames(ChromeText& text) const {
  const Tracks& tracks = trace_.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_new = track == 0 || tracks.kind[track - 1] != tracks.kind[track] ||
                        tracks.pid[track - 1] != tracks.pid[track];
    if (is_new) {
      WriteProcess(tracks.pid[track], tracks.kind[track] == TrackKind::kDevice, text);
    }
    const bool is_named =
        track > 0 && tracks.is_async[track] != 0 && IsSameLine(tracks, track - 1, track);
    if (!is_named) {
      WriteThread(track, text);
    }
  }
}

void ChromeTracks::WriteProcess(int64_t pid, bool is_device, ChromeText& text) const {
  const std::string name = Named(is_device ? DeviceName(pid) : fmt::format("process {}", pid));
  const std::string label = is_device ? fmt::format("GPU {}", pid) : "CPU";
  const bool is_far = pid > kFirstDeviceOrder || pid < -kFirstDeviceOrder;
  const int64_t order = is_device && !is_far ? kFirstDeviceOrder + pid : pid;
  WriteMetadata("process_name", pid, 0, NameArg("name", name), text);
  WriteMetadata("process_labels", pid, 0, NameArg("labels", label), text);
  WriteMetadata("process_sort_index", pid, 0, fmt::format("\"sort_index\":{}", order), text);
}

void ChromeTracks::WriteThread(uint32_t track, ChromeText& text) const {
  const Tracks& tracks = trace_.tracks();
  const bool is_device = tracks.kind[track] == TrackKind::kDevice;
  std::string name(trace_.Text(tracks.name[track]));
  if (is_device && (name.empty() || threads_[track] != tracks.tid[track])) {
    name = StreamName(track);
  }
  if (!name.empty()) {
    WriteMetadata("thread_name", tracks.pid[track], threads_[track], NameArg("name", name), text);
  }
  WriteMetadata("thread_sort_index", tracks.pid[track], threads_[track],
                fmt::format("\"sort_index\":{}", tracks.tid[track]), text);
}

std::string ChromeTracks::Named(std::string name) const {
  return source_.empty() ? name : fmt::format("{}: {}", source_, name);
}

std::string ChromeTracks::DeviceName(int64_t device) const {
  for (const DeviceInfo& info : trace_.meta().devices) {
    if (info.id == device && !info.name.empty()) {
      return fmt::format("GPU {}: {}", device, info.name);
    }
  }
  return fmt::format("GPU {}", device);
}

std::string ChromeTracks::StreamName(uint32_t track) const {
  const Tracks& tracks = trace_.tracks();
  const int64_t process = tracks.process[track];
  return process == kMissing ? fmt::format("stream {}", tracks.tid[track])
                             : fmt::format("stream {} of process {}", tracks.tid[track], process);
}

}  // namespace borescope::internal
