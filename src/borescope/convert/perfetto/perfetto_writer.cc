#include "borescope/convert/perfetto/perfetto_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/convert/counters.h"
#include "borescope/convert/lanes.h"
#include "borescope/output/sink/sink.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// Packets of a Perfetto trace. Field numbers are those of protos/perfetto/trace of its repository.

// One line of the timeline, or a group of them.
struct PerfettoTrack {
  uint64_t uuid = 0;
  uint64_t parent = 0;  // 0: none
  std::string name;
  bool is_counter = false;
  std::optional<int32_t> pid;  // alone: a process
  std::optional<int32_t> tid;  // with pid: a thread
};

struct PerfettoNote {
  std::string_view key;
  int64_t number = 0;
  std::string_view text;  // used unless empty
};

struct PerfettoSlice {
  uint64_t track = 0;
  int64_t ts_ns = 0;
  StringId name;
  std::string_view category;
  std::span<const PerfettoNote> notes;
  std::span<const uint64_t> flows_out;
  uint64_t flow_in = 0;       // 0: none
  std::string_view own_name;  // used instead of `name` unless empty
};

// Writes packets to a sink in pieces, and each name once. Errors of the sink are kept and returned
// by Finish.
class PerfettoPackets {
 public:
  // `shift_ns` is added to all times. Names are numbered from 1 in every `sequence`.
  PerfettoPackets(Sink& sink, const StringPool& strings, int64_t shift_ns, uint32_t sequence);

  void Describe(const PerfettoTrack& track);
  void Begin(const PerfettoSlice& slice) { Put(slice, 1); }
  void Instant(const PerfettoSlice& slice) { Put(slice, 3); }
  void End(uint64_t track, int64_t ts_ns);
  void Count(uint64_t track, int64_t ts_ns, int64_t value);
  void Count(uint64_t track, int64_t ts_ns, double value);

  Result<void> Finish() { return out_.Finish(); }

 private:
  void Put(const PerfettoSlice& slice, int32_t type);
  void PutPacket(int64_t ts_ns, bool uses_names, const std::string& event);
  void PutNewName(StringId name);

  BufferedSink out_;
  const StringPool& strings_;
  int64_t shift_ns_;
  uint32_t sequence_;
  std::vector<char> has_name_;  // by StringId: whether it was written
  std::string event_, packet_, interned_;
};

namespace {

using protozero::pbf_writer;

namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
                   kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr uint32_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace event {
constexpr uint32_t kDebugAnnotations = 4, kType = 9, kNameId = 10, kTrackUuid = 11,
                   kCategories = 22, kName = 23, kCounterValue = 30, kDoubleCounterValue = 44,
                   kFlowIds = 47, kTerminatingFlowIds = 48;
constexpr int32_t kSliceEnd = 2, kCounter = 4;
}  // namespace event
namespace annotation {
constexpr uint32_t kIntValue = 4, kStringValue = 6, kName = 10;
}
namespace interned {
constexpr uint32_t kEventNames = 2, kId = 1, kName = 2;
}
namespace descriptor {
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5, kCounter = 8;
constexpr uint32_t kProcessPid = 1, kProcessName = 6;
constexpr uint32_t kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
}  // namespace descriptor

// Ids of names start at 1.
uint64_t NameId(StringId name) { return uint64_t{name.valid() ? name.value : 0} + 1; }

void AddOwner(const PerfettoTrack& track, pbf_writer& out) {
  if (track.pid.has_value() && track.tid.has_value()) {
    pbf_writer thread(out, descriptor::kThread);
    thread.add_int32(descriptor::kThreadPid, *track.pid);
    thread.add_int32(descriptor::kThreadTid, *track.tid);
    thread.add_string(descriptor::kThreadName, track.name);
  } else if (track.pid.has_value()) {
    pbf_writer process(out, descriptor::kProcess);
    process.add_int32(descriptor::kProcessPid, *track.pid);
    process.add_string(descriptor::kProcessName, track.name);
  } else {
    out.add_string(descriptor::kName, track.name);
  }
}

void AddNote(const PerfettoNote& note, pbf_writer& out) {
  pbf_writer annotation(out, event::kDebugAnnotations);
  annotation.add_string(annotation::kName, note.key.data(), note.key.size());
  if (note.text.empty()) {
    annotation.add_int64(annotation::kIntValue, note.number);
  } else {
    annotation.add_string(annotation::kStringValue, ToValidUtf8(note.text));
  }
}

}  // namespace

PerfettoPackets::PerfettoPackets(Sink& sink, const StringPool& strings, int64_t shift_ns,
                                 uint32_t sequence)
    : out_(sink),
      strings_(strings),
      shift_ns_(shift_ns),
      sequence_(sequence),
      has_name_(strings.size(), 0) {
  pbf_writer first(packet_);
  first.add_uint32(packet::kSequenceId, sequence_);
  first.add_uint32(packet::kSequenceFlags, packet::kStateCleared);
  pbf_writer(out_.text()).add_message(trace::kPacket, packet_);
}

void PerfettoPackets::Describe(const PerfettoTrack& track) {
  packet_.clear();
  pbf_writer out(packet_);
  out.add_uint32(packet::kSequenceId, sequence_);
  {
    pbf_writer described(out, packet::kTrackDescriptor);
    described.add_uint64(descriptor::kUuid, track.uuid);
    if (track.parent != 0) {
      described.add_uint64(descriptor::kParentUuid, track.parent);
    }
    AddOwner(track, described);
    if (track.is_counter) {
      described.add_message(descriptor::kCounter, std::string());
    }
  }
  pbf_writer(out_.text()).add_message(trace::kPacket, packet_);
}

void PerfettoPackets::Put(const PerfettoSlice& slice, int32_t type) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, type);
  out.add_uint64(event::kTrackUuid, slice.track);
  if (slice.own_name.empty()) {
    PutNewName(slice.name);
    out.add_uint64(event::kNameId, NameId(slice.name));
  } else {
    out.add_string(event::kName, slice.own_name.data(), slice.own_name.size());
  }
  out.add_string(event::kCategories, slice.category.data(), slice.category.size());
  for (const PerfettoNote& note : slice.notes) {
    AddNote(note, out);
  }
  for (const uint64_t flow : slice.flows_out) {
    out.add_fixed64(event::kFlowIds, flow);
  }
  if (slice.flow_in != 0) {
    out.add_fixed64(event::kTerminatingFlowIds, slice.flow_in);
  }
  PutPacket(slice.ts_ns, true, event_);
}

void PerfettoPackets::End(uint64_t track, int64_t ts_ns) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, event::kSliceEnd);
  out.add_uint64(event::kTrackUuid, track);
  PutPacket(ts_ns, false, event_);
}

void PerfettoPackets::Count(uint64_t track, int64_t ts_ns, int64_t value) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, event::kCounter);
  out.add_uint64(event::kTrackUuid, track);
  out.add_int64(event::kCounterValue, value);
  PutPacket(ts_ns, false, event_);
}

void PerfettoPackets::Count(uint64_t track, int64_t ts_ns, double value) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, event::kCounter);
  out.add_uint64(event::kTrackUuid, track);
  out.add_double(event::kDoubleCounterValue, value);
  PutPacket(ts_ns, false, event_);
}

// Adds the name, if it is new, to `interned_` for the next packet.
void PerfettoPackets::PutNewName(StringId name) {
  const uint32_t index = name.valid() ? name.value : 0;
  if (has_name_[index] != 0) {
    return;
  }
  has_name_[index] = 1;
  pbf_writer out(interned_);
  pbf_writer entry(out, interned::kEventNames);
  entry.add_uint64(interned::kId, NameId(name));
  entry.add_string(interned::kName, ToValidUtf8(strings_.Get(name)));
}

void PerfettoPackets::PutPacket(int64_t ts_ns, bool uses_names, const std::string& event) {
  packet_.clear();
  pbf_writer out(packet_);
  out.add_uint64(packet::kTimestamp,
                 static_cast<uint64_t>(ts_ns) + static_cast<uint64_t>(shift_ns_));
  out.add_uint32(packet::kSequenceId, sequence_);
  out.add_message(packet::kTrackEvent, event);
  if (!interned_.empty()) {
    out.add_message(packet::kInternedData, interned_);
    interned_.clear();
  }
  if (uses_names) {
    out.add_uint32(packet::kSequenceFlags, packet::kNeedsState);
  }
  pbf_writer(out_.text()).add_message(trace::kPacket, packet_);
  out_.EndRecord();
}

namespace {

std::optional<int32_t> Small(int64_t number) {
  const bool fits = number >= 0 && number <= std::numeric_limits<int32_t>::max();
  return fits ? std::optional(static_cast<int32_t>(number)) : std::nullopt;
}

int64_t FirstTime(const Trace& trace) {
  int64_t first = trace.begin_ns();
  for (const int64_t ts_ns : trace.memory().ts_ns) {
    first = ts_ns == kMissing ? first : std::min(first, ts_ns);
  }
  for (const int64_t ts_ns : trace.samples().ts_ns) {
    first = std::min(first, ts_ns);
  }
  return first;
}

std::string_view Category(HostKind kind) {
  constexpr std::string_view kNames[] = {"python_function", "user_annotation", "cpu_op", "runtime",
                                         "overhead"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view Category(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"kernel",         "gpu_memcpy", "gpu_memset", "sync",
                                         "gpu_annotation", "gpu_range",  "gpu_event"};
  return kNames[static_cast<size_t>(kind)];
}

// Writes one trace.
class PerfettoTraceWriter {
 public:
  PerfettoTraceWriter(const ConvertInput& input, Sink& sink, int64_t shift_ns)
      : input_(input),
        trace_(input.trace),
        packets_(sink, input.trace.strings(), shift_ns, input.source.number + 1),
        last_uuid_(static_cast<uint64_t>(input.source.number) << 32U),
        track_uuids_(input.trace.tracks().size(), 0) {}

  Result<ConvertCounts> Write() {
    DescribeTracks();
    const Tracks& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      tracks.kind[track] == TrackKind::kHost ? WriteHostTrack({track}) : WriteDeviceTrack({track});
    }
    WriteMemory();
    WriteCounters();
    WriteSamples();
    BS_TRY(packets_.Finish());
    return counts_;
  }

 private:
  // ---- Lines of the timeline ----

  uint64_t Describe(PerfettoTrack track) {
    track.uuid = ++last_uuid_;
    packets_.Describe(track);
    return track.uuid;
  }

  void DescribeTracks() {
    const Tracks& tracks = trace_.tracks();
    for (uint32_t track = 0; track < tracks.size(); ++track) {
      const bool is_host = tracks.kind[track] == TrackKind::kHost;
      const int64_t pid = tracks.pid[track];
      uint64_t& group = (is_host ? processes_ : devices_)[pid];
      if (group == 0) {
        group = is_host ? Describe({0, 0, Named("process", pid), false, Small(pid), {}})
                        : Describe({0, 0, Named("GPU", pid), false, {}, {}});
      }
      PerfettoTrack line{0, group, NameOf(track), false, {}, {}};
      if (is_host && tracks.is_async[track] == 0 && Small(pid).has_value() &&
          Small(tracks.tid[track]).has_value()) {
        line.pid = Small(pid);
        line.tid = Small(tracks.tid[track]);
      }
      track_uuids_[track] = Describe(line);
    }
  }

  // With several traces, the name begins with that of the trace.
  std::string Named(std::string_view what, int64_t number) const {
    const std::string& source = input_.source.name;
    return source.empty() ? fmt::format("{} {}", what, number)
                          : fmt::format("{}: {} {}", source, what, number);
  }

  std::string NameOf(uint32_t track) const {
    const Tracks& tracks = trace_.tracks();
    const std::string_view known = trace_.Text(tracks.name[track]);
    const bool is_host = tracks.kind[track] == TrackKind::kHost;
    std::string name = known.empty()
                           ? fmt::format("{} {}", is_host ? "thread" : "stream", tracks.tid[track])
                           : std::string(known);
    if (tracks.is_async[track] != 0) {
      name += ": overlapping ranges";
    }
    if (tracks.process[track] != kMissing) {
      name += fmt::format(" of process {}", tracks.process[track]);
    }
    return name;
  }

  // ---- Slices ----

  // For a part of a recording, a timeline shows only what is in the window, not the events kept
  // around it.
  template <class Id, class Spine>
  bool IsShown(Id id, const Spine& spine) const {
    return input_.Keeps(id) &&
           (input_.rows == nullptr || (spine.ts_ns[id.value] <= input_.window.end_ns &&
                                       spine.end_ns(id) >= input_.window.begin_ns));
  }
  bool IsShown(HostId id) const { return IsShown(id, trace_.host()); }
  bool IsShown(DeviceId id) const { return IsShown(id, trace_.device()); }

  template <class Spine>
  Interval ShownTime(const Spine& spine, uint32_t row) const {
    Interval time{spine.ts_ns[row], spine.ts_ns[row] + spine.dur_ns[row]};
    if (input_.rows != nullptr) {
      time.begin = std::max(time.begin, input_.window.begin_ns);
      time.end = std::min(time.end, input_.window.end_ns);
    }
    return time;
  }

  // Writes the slices of one track on as many lines as they need.
  template <class Id, class Spine, class Fill>
  void WriteSlices(TrackId track, const Spine& spine, const Fill& fill) {
    const Tracks& tracks = trace_.tracks();
    Lanes lanes;
    std::vector<uint64_t> uuids = {track_uuids_[track.value]};
    const auto close = [&](uint32_t lane, int64_t end_ns) { packets_.End(uuids[lane], end_ns); };
    for (const uint32_t row : EachRow(tracks.first_row[track.value], tracks.end_row[track.value])) {
      if (!counts_.Keep(IsShown(Id{row}, spine))) {
        continue;
      }
      const Interval shown = ShownTime(spine, row);
      const uint32_t lane = lanes.Open(shown.begin, shown.end, close);
      if (lane == uuids.size()) {
        uuids.push_back(Describe({0, uuids[0], NameOf(track.value), false, {}, {}}));
      }
      notes_.clear();
      if (shown.begin != spine.ts_ns[row] || shown.end != spine.end_ns(Id{row})) {
        Note("recorded begin_ns", spine.ts_ns[row]);
        Note("recorded duration_ns", spine.dur_ns[row]);
      }
      fill(row, uuids[lane], shown.begin);
    }
    lanes.CloseUpTo(std::numeric_limits<int64_t>::max(), close);
  }

  void Note(std::string_view key, int64_t number) {
    if (number != kMissing) {
      notes_.push_back({key, number, {}});
    }
  }
  void Note(std::string_view key, StringId text) {
    if (!trace_.Text(text).empty()) {
      notes_.push_back({key, 0, trace_.Text(text)});
    }
  }

  void WriteHostTrack(TrackId track) {
    const HostEvents& host = trace_.host();
    WriteSlices<HostId>(track, host, [&](uint32_t row, uint64_t uuid, int64_t begin_ns) {
      flows_.clear();
      if (host.detail[row] != kNoDetail) {
        FillHost(host.kind[row], host.detail[row], HostId{row});
      }
      packets_.Begin(
          {uuid, begin_ns, host.name[row], Category(host.kind[row]), notes_, flows_, 0, {}});
    });
  }

  void FillHost(HostKind kind, uint32_t detail, HostId id) {
    if (kind == HostKind::kOp || kind == HostKind::kAnnotation) {
      const Ops& ops = trace_.ops();
      Note("External id", ops.external_id[detail]);
      Note("Sequence number", ops.sequence[detail]);
      Note("Input Dims", ops.input_dims[detail]);
      Note("Input type", ops.input_types[detail]);
      Note("Input Strides", ops.input_strides[detail]);
      Note("Concrete Inputs", ops.concrete_inputs[detail]);
      return;
    }
    const RuntimeCalls& calls = trace_.runtime_calls();
    Note("correlation", calls.correlation[detail]);
    Note("domain", calls.domain[detail]);
    Note("args", calls.args[detail]);
    for (const DeviceId work : input_.index.correlation.DevicesOf(detail)) {
      if (input_.index.correlation.launch_of[work.value] == id && IsShown(work)) {
        flows_.push_back(FlowId(work));
      }
    }
  }

  uint64_t FlowId(DeviceId work) const {
    return static_cast<uint64_t>(input_.source.first_id) + work.value + 1;
  }

  void WriteDeviceTrack(TrackId track) {
    const DeviceEvents& device = trace_.device();
    flows_.clear();
    WriteSlices<DeviceId>(track, device, [&](uint32_t row, uint64_t uuid, int64_t begin_ns) {
      Note("correlation", device.correlation[row]);
      Note("External id", device.external_id[row]);
      FillDevice(device.kind[row], device.detail[row]);
      const HostId launch = input_.index.correlation.launch_of[row];
      const bool is_linked = launch.valid() && IsShown(launch);
      packets_.Begin({uuid,
                      begin_ns,
                      device.name[row],
                      Category(device.kind[row]),
                      notes_,
                      flows_,
                      is_linked ? FlowId(DeviceId{row}) : 0,
                      {}});
    });
  }

  void FillDevice(DeviceKind kind, uint32_t detail) {
    if (detail == kNoDetail) {
      return;
    }
    if (kind == DeviceKind::kMemcpy || kind == DeviceKind::kMemset) {
      Note("bytes", trace_.copies().bytes[detail]);
    } else if (kind == DeviceKind::kKernel) {
      const Kernels& kernels = trace_.kernels();
      NoteSmall("grid x", kernels.grid_x[detail]);
      NoteSmall("grid y", kernels.grid_y[detail]);
      NoteSmall("grid z", kernels.grid_z[detail]);
      NoteSmall("block x", kernels.block_x[detail]);
      NoteSmall("block y", kernels.block_y[detail]);
      NoteSmall("block z", kernels.block_z[detail]);
      NoteSmall("registers per thread", kernels.registers[detail]);
      NoteSmall("shared memory", kernels.shared_bytes[detail]);
    }
  }
  void NoteSmall(std::string_view key, int32_t number) {
    Note(key, number < 0 ? kMissing : number);
  }

  // ---- Values over time ----

  void WriteMemory() {
    const MemoryEvents& memory = trace_.memory();
    for (const size_t row : EachIndex(memory.size())) {
      const int64_t ts_ns = memory.ts_ns[row] == kMissing ? trace_.begin_ns() : memory.ts_ns[row];
      if (!counts_.Keep(input_.window.Holds(ts_ns))) {
        continue;
      }
      notes_.clear();
      Note("Bytes", memory.bytes[row]);
      Note("Total Allocated", memory.total_allocated[row]);
      Note("Total Reserved", memory.total_reserved[row]);
      packets_.Instant(
          {track_uuids_[memory.track[row].value], ts_ns, {}, "memory", notes_, {}, 0, "[memory]"});
    }
  }

  void WritePoints(uint64_t parent, std::string name, const std::vector<CounterPoint>& points) {
    if (points.empty()) {
      return;
    }
    const uint64_t uuid = Describe({0, parent, std::move(name), true, {}, {}});
    for (const CounterPoint& point : points) {
      packets_.Count(uuid, point.ts_ns, point.value);
    }
  }

  void WriteCounters() {
    for (const DeviceTracks& device : DevicesOf(trace_)) {
      const uint64_t group = devices_[device.device];
      WritePoints(group, "GPU busy", BusySteps(input_, device));
      for (uint32_t track = device.first_track; track < device.end_track; ++track) {
        WritePoints(group, "QueueDepth " + NameOf(track), QueueDepth(input_, {track}));
      }
    }
  }

  void WriteSamples() {
    const Samples& samples = trace_.samples();
    std::map<std::tuple<int64_t, uint32_t, uint32_t>, uint64_t> series;
    for (const size_t row : EachIndex(samples.size())) {
      if (!counts_.Keep(input_.window.Holds(samples.ts_ns[row]))) {
        continue;
      }
      const std::tuple key(samples.device[row], samples.device_type[row].value,
                           samples.name[row].value);
      uint64_t& uuid = series[key];
      if (uuid == 0) {
        uuid = Describe({0, 0, MonitorName(trace_, row), true, {}, {}});
      }
      packets_.Count(uuid, samples.ts_ns[row], samples.value[row]);
    }
  }

  const ConvertInput& input_;
  const Trace& trace_;
  PerfettoPackets packets_;
  ConvertCounts counts_;
  uint64_t last_uuid_;
  std::vector<uint64_t> track_uuids_;      // by TrackId
  std::map<int64_t, uint64_t> processes_;  // uuid by process
  std::map<int64_t, uint64_t> devices_;    // and by device
  std::vector<PerfettoNote> notes_;        // of the current slice
  std::vector<uint64_t> flows_;
};

class PerfettoWriter : public ConvertWriter {
 public:
  explicit PerfettoWriter(Sink& sink) : sink_(sink) {}

  Result<ConvertCounts> Add(const ConvertInput& input) override {
    const int64_t first_ns = FirstTime(input.trace);
    if (input.source.number == 0) {
      shift_ns_ = first_ns < 0 ? -first_ns : 0;
    }
    if (first_ns < -shift_ns_) {
      return Error{ErrorCode::kInvalidArgument,
                   "begins before the first file, and before 0, which Perfetto cannot represent",
                   "name it first", input.trace.meta().file};
    }
    return PerfettoTraceWriter(input, sink_, shift_ns_).Write();
  }
  Result<void> Finish() override { return {}; }

 private:
  Sink& sink_;
  int64_t shift_ns_ = 0;  // moves the first time of the first trace to 0, if it is negative
};

}  // namespace

std::unique_ptr<ConvertWriter> OpenPerfetto(Sink& sink) {
  return std::make_unique<PerfettoWriter>(sink);
}

Result<ConvertCounts> WritePerfetto(const ConvertInput& input, Sink& sink) {
  PerfettoWriter writer(sink);
  return WriteAlone(writer, input);
}

}  // namespace borescope::internal
