#include "borescope/convert/chrome/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "borescope/convert/chrome/chrome_events.h"
#include "borescope/output/json_writer.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {

namespace {

// ---- Members around the events ----

void PutIfKnown(JsonWriter& json, std::string_view key, int64_t value) {
  if (value != kMissing) {
    json.Key(key);
    json.Int(value);
  }
}

void PutDevice(const DeviceInfo& device, JsonWriter& json) {
  json.BeginObject();
  PutIfKnown(json, "id", device.id);
  json.Key("name");
  json.String(device.name);
  PutIfKnown(json, "totalGlobalMem", device.total_bytes);
  PutIfKnown(json, "computeMajor", device.compute_major);
  PutIfKnown(json, "computeMinor", device.compute_minor);
  PutIfKnown(json, "maxThreadsPerMultiprocessor", device.max_threads_per_multiprocessor);
  PutIfKnown(json, "warpSize", device.warp_size);
  PutIfKnown(json, "numSms", device.multiprocessors);
  json.EndObject();
}

void PutDistributedInfo(const Meta& meta, JsonWriter& json) {
  if (!meta.rank.has_value() && !meta.world_size.has_value()) {
    return;
  }
  json.Key("distributedInfo");
  json.BeginObject();
  json.Key("backend");
  json.String(meta.backend);
  PutIfKnown(json, "rank", meta.rank.value_or(kMissing));
  PutIfKnown(json, "world_size", meta.world_size.value_or(kMissing));
  if (!meta.nccl_version.empty()) {
    json.Key("nccl_version");
    json.String(meta.nccl_version);
  }
  json.EndObject();
}

void PutOptions(const RecordedOptions& options, JsonWriter& json) {
  const auto put = [&](std::string_view key, bool is_on) {
    PutIfKnown(json, key, is_on ? 1 : kMissing);
  };
  put("record_shapes", options.record_shapes);
  put("profile_memory", options.profile_memory);
  put("with_stack", options.with_stack);
  put("with_modules", options.with_modules);
  put("with_flops", options.with_flops);
}

void PutDevices(const std::vector<DeviceInfo>& devices, JsonWriter& json) {
  json.Key("deviceProperties");
  json.BeginArray();
  for (const DeviceInfo& device : devices) {
    PutDevice(device, json);
  }
  json.EndArray();
}

// With several traces the devices come after the events, and there is no rank.
void PutMembers(const Meta& meta, bool is_alone, JsonWriter& json) {
  json.Key("schemaVersion");
  json.Int(1);
  if (is_alone && !meta.devices.empty()) {
    PutDevices(meta.devices, json);
  }
  if (is_alone) {
    PutDistributedInfo(meta, json);
  }
  PutOptions(meta.options, json);
  json.Key("displayTimeUnit");
  json.String("ms");
  PutIfKnown(json, "baseTimeNanoseconds", meta.base_ns.value_or(kMissing));
  if (!meta.trace_name.empty()) {
    json.Key("traceName");
    json.String(meta.trace_name);
  }
}

// The document up to the bracket that opens its events.
Result<void> WriteHead(const Meta& meta, bool is_alone, Sink& sink) {
  StringSink members;
  JsonWriter json(members);
  json.BeginObject();
  PutMembers(meta, is_alone, json);
  json.EndObject();
  BS_TRY(json.Finish());
  const std::string& text = members.text();
  BS_TRY(sink.Write(std::string_view(text).substr(0, text.rfind('}'))));
  return sink.Write(",\n\"traceEvents\":[");
}

void PutCut(const RecordedCut& cut, JsonWriter& json) {
  json.Key(kCutMember);
  json.BeginObject();
  PutIfKnown(json, "begin_ns", cut.begin_ns);
  PutIfKnown(json, "end_ns", cut.end_ns);
  if (!cut.steps.empty()) {
    json.Key("steps");
    json.String(cut.steps);
  }
  PutIfKnown(json, "recording_begin_ns", cut.recording_begin_ns);
  PutIfKnown(json, "recording_end_ns", cut.recording_end_ns);
  json.EndObject();
}

// The end of the document after its events.
Result<void> WriteTail(const std::vector<DeviceInfo>& devices,
                       const std::optional<RecordedCut>& cut, Sink& sink) {
  if (devices.empty() && !cut.has_value()) {
    return sink.Write("\n]}\n");
  }
  StringSink members;
  JsonWriter json(members);
  json.BeginObject();
  if (!devices.empty()) {
    PutDevices(devices, json);
  }
  if (cut.has_value()) {
    PutCut(*cut, json);
  }
  json.EndObject();
  BS_TRY(json.Finish());
  const std::string& text = members.text();
  return sink.Write("\n],\n" + text.substr(text.find('{') + 1));
}

// ---- The file ----

class ChromeWriter : public ConvertWriter {
 public:
  explicit ChromeWriter(Sink& sink) : sink_(sink) {}

  Result<ConvertCounts> Add(const ConvertInput& input) override {
    const Meta& meta = input.trace.meta();
    const bool is_alone = input.source.name.empty();
    if (input.source.number == 0) {
      BS_TRY(WriteHead(meta, is_alone, sink_));
    }
    if (!is_alone) {
      AddDevices(meta.devices);
    }
    if (input.cut.has_value()) {
      JoinCut(*input.cut, cut_);
    }
    ConvertCounts counts;
    ChromeText text(sink_, input.trace.strings(), has_events_);
    WriteEvents(input, text, counts);
    has_events_ = text.has_events();
    BS_TRY(text.Finish());
    return counts;
  }

  Result<void> Finish() override { return WriteTail(devices_, cut_, sink_); }

 private:
  static void WriteEvents(const ConvertInput& input, ChromeText& text, ConvertCounts& counts) {
    const ChromeTracks tracks(input.trace, input.source.name);
    tracks.WriteNames(text);
    WriteHostEvents(input, tracks, text, counts);
    WriteDeviceEvents(input, tracks, text, counts);
    WriteMemoryEvents(input, tracks, text, counts);
    WriteFlows(input, tracks, text);
    WriteCounters(input, text);
    WriteSamples(input, text, counts);
  }

  // Every rank of a node sees the same GPUs.
  void AddDevices(const std::vector<DeviceInfo>& devices) {
    for (const DeviceInfo& device : devices) {
      const bool is_known = std::any_of(devices_.begin(), devices_.end(),
                                        [&](const auto& known) { return known.id == device.id; });
      if (!is_known || device.id == kMissing) {
        devices_.push_back(device);
      }
    }
  }

  Sink& sink_;
  bool has_events_ = false;
  std::vector<DeviceInfo> devices_;  // with several traces: each once
  std::optional<RecordedCut> cut_;   // of all traces together
};

}  // namespace

std::unique_ptr<ConvertWriter> OpenChrome(Sink& sink) {
  return std::make_unique<ChromeWriter>(sink);
}

Result<ConvertCounts> WriteChrome(const ConvertInput& input, Sink& sink) {
  ChromeWriter writer(sink);
  return WriteAlone(writer, input);
}

namespace {

// GPUs are listed after the processes, by the number that PyTorch uses.
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
