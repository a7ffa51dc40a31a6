#include "borescope/convert/chrome/chrome_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/convert/counters.h"
#include "borescope/json/json_check.h"
#include "borescope/output/json_writer.h"

namespace borescope::internal {

bool IsJsonValue(std::string_view text) {
  constexpr size_t kDeepest = 64;
  JsonCheck check;
  return text.find_first_of("\n\r") == std::string_view::npos && check.Take(text) &&
         check.Finish() && check.deepest() < kDeepest;
}

namespace {

// The category of a runtime call, by which readers recognise the vendor.
std::string_view RuntimeCategory(Vendor vendor, std::string_view name) {
  if (vendor == Vendor::kIntel) {
    return "xpu_runtime";
  }
  if (vendor == Vendor::kMeta) {
    return "mtia_runtime";
  }
  return name.starts_with("cu") && !name.starts_with("cuda") ? "cuda_driver" : "cuda_runtime";
}

std::string_view HostCategory(HostKind kind, Vendor vendor, std::string_view name) {
  switch (kind) {
    case HostKind::kPython:
      return "python_function";
    case HostKind::kAnnotation:
      return "user_annotation";
    case HostKind::kOp:
      return "cpu_op";
    case HostKind::kRuntime:
      return RuntimeCategory(vendor, name);
    case HostKind::kOther:
      break;
  }
  return "overhead";
}

class HostWriter {
 public:
  HostWriter(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text)
      : trace_(input.trace),
        first_id_(static_cast<uint64_t>(input.source.first_id)),
        tracks_(tracks),
        text_(text),
        is_json_(trace_.strings().size(), 0) {}

  void Write(uint32_t row) {
    const HostEvents& host = trace_.host();
    if (trace_.tracks().is_async[host.track[row].value] != 0) {
      return WriteAsync(row);
    }
    PutHead(R"({"ph":"X","cat":")", row);
    text_.Put(tracks_.Place(host.track[row]));
    text_.PutTime(host.ts_ns[row]);
    text_.Put(",\"dur\":");
    text_.PutTime(host.dur_ns[row]);
    PutArgs(row);
  }

 private:
  // Viewers assume that complete events of a thread nest, so an event that may overlap others is
  // written as a begin and an end.
  void WriteAsync(uint32_t row) {
    PutAsync(R"({"ph":"b","cat":")", row, trace_.host().ts_ns[row]);
    PutArgs(row);
    PutAsync(R"({"ph":"e","cat":")", row, trace_.host().end_ns(HostId{row}));
    text_.Put("}");
  }

  void PutAsync(std::string_view start, uint32_t row, int64_t ts_ns) {
    PutHead(start, row);
    text_.Put(",\"id\":");
    text_.PutUint(first_id_ + row);
    text_.Put(tracks_.Place(trace_.host().track[row]));
    text_.PutTime(ts_ns);
  }

  void PutHead(std::string_view start, uint32_t row) {
    const HostEvents& host = trace_.host();
    const StringId name = host.name[row];
    text_.StartEvent();
    text_.Put(start);
    text_.Put(HostCategory(host.kind[row], trace_.meta().vendor, trace_.Text(name)));
    text_.Put(R"(","name":)");
    text_.PutPooled(name);
  }

  void PutArgs(uint32_t row) {
    const HostEvents& host = trace_.host();
    ChromeArgs args(text_);
    if (host.detail[row] != kNoDetail) {
      WriteDetail(host.kind[row], host.detail[row], args);
    }
    args.End();
  }

  void WriteDetail(HostKind kind, uint32_t detail, ChromeArgs& args) {
    switch (kind) {
      case HostKind::kAnnotation:
      case HostKind::kOp:
        return WriteOp(detail, args);
      case HostKind::kRuntime:
      case HostKind::kOther:
        return WriteCall(detail, args);
      case HostKind::kPython:
        return;
    }
  }

  void WriteTritonLaunch(uint32_t row, ChromeArgs& args) {
    if (row != kNoDetail) {
      args.Text("\"kernel_backend\":", trace_.triton().backend[row]);
      args.Text("\"kernel_file\":", trace_.triton().kernel_file[row]);
      if (const int64_t bytes = trace_.triton().bytes[row]; bytes != kMissing) {
        args.Number("\"kernel_num_gb\":", static_cast<double>(bytes) / 1e9);
      }
      args.Int("\"kernel_flop\":", trace_.triton().flops[row]);
    }
  }

  void WriteOp(uint32_t row, ChromeArgs& args) {
    const Ops& ops = trace_.ops();
    args.Int("\"External id\":", ops.external_id[row]);
    args.Int("\"Record function id\":", ops.record_function_id[row]);
    args.Int("\"Sequence number\":", ops.sequence[row]);
    args.Int("\"Fwd thread id\":", ops.forward_thread[row]);
    WriteJson("\"Input Dims\":", ops.input_dims[row], args);
    WriteJson("\"Input type\":", ops.input_types[row], args);
    WriteJson("\"Input Strides\":", ops.input_strides[row], args);
    WriteJson("\"Concrete Inputs\":", ops.concrete_inputs[row], args);
    WriteTritonLaunch(ops.triton[row], args);
    WriteCollective(trace_, ops.collective[row], args);
  }

  void WriteCall(uint32_t row, ChromeArgs& args) {
    const RuntimeCalls& calls = trace_.runtime_calls();
    args.Int("\"External id\":", calls.external_id[row]);
    args.Int("\"correlation\":", calls.correlation[row]);
    args.Text("\"domain\":", calls.domain[row]);
    args.Text("\"arguments\":", calls.args[row]);
    args.Text("\"kernel\":", calls.kernel[row]);
  }

  // Writes text that was recorded as JSON as JSON, if it is valid.
  void WriteJson(std::string_view key, StringId id, ChromeArgs& args) {
    const std::string_view json = trace_.Text(id);
    if (json.empty()) {
      return;
    }
    args.Key(key);
    if (IsJson(id, json)) {
      text_.Put(json);
    } else {
      text_.PutPooled(id);
    }
  }

  bool IsJson(StringId id, std::string_view json) {
    constexpr char kYes = 1;
    constexpr char kNo = 2;
    char& known = is_json_[id.value];
    if (known == 0) {
      known = IsJsonValue(json) ? kYes : kNo;
    }
    return known == kYes;
  }

  const Trace& trace_;
  const uint64_t first_id_;
  const ChromeTracks& tracks_;
  ChromeText& text_;
  std::vector<char> is_json_;  // by StringId; 0: not checked yet
};

}  // namespace

void WriteHostEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                     ConvertCounts& counts) {
  HostWriter writer(input, tracks, text);
  const HostEvents& host = input.trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (counts.Keep(input.Keeps(HostId{row}))) {
      writer.Write(row);
    }
  }
}

namespace {

std::string_view DeviceCategory(DeviceKind kind, Vendor vendor) {
  switch (kind) {
    case DeviceKind::kKernel:
      return "kernel";
    case DeviceKind::kMemcpy:
      return "gpu_memcpy";
    case DeviceKind::kMemset:
      return "gpu_memset";
    case DeviceKind::kSync:
      return vendor == Vendor::kIntel ? "xpu_sync" : "cuda_sync";
    case DeviceKind::kAnnotation:
      return "gpu_user_annotation";
    case DeviceKind::kRange:
      return "cuda_profiler_range";
    case DeviceKind::kOther:
      break;
  }
  return "cuda_event";
}

class DeviceWriter {
 public:
  DeviceWriter(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text)
      : input_(input), trace_(input.trace), tracks_(tracks), text_(text) {}

  void Write(uint32_t row) {
    const DeviceEvents& device = trace_.device();
    text_.StartEvent();
    text_.Put(R"({"ph":"X","cat":")");
    text_.Put(DeviceCategory(device.kind[row], trace_.meta().vendor));
    text_.Put(R"(","name":)");
    text_.PutPooled(device.name[row]);
    text_.Put(tracks_.Place(device.track[row]));
    text_.PutTime(device.ts_ns[row]);
    text_.Put(",\"dur\":");
    text_.PutTime(device.dur_ns[row]);
    WriteArgs(row);
    const HostId launch = input_.index.correlation.launch_of[row];
    if (launch.valid() && input_.Keeps(launch)) {
      WriteFlow(launch, row);
    }
  }

 private:
  void WriteArgs(uint32_t row) {
    const DeviceEvents& device = trace_.device();
    const DeviceKind kind = device.kind[row];
    ChromeArgs args(text_);
    args.Int("\"External id\":", device.external_id[row]);
    args.Int("\"correlation\":", device.correlation[row]);
    if (IsDeviceWork(kind)) {
      args.Int("\"device\":", trace_.DeviceOf(DeviceId{row}));
      if (!IsStreamByLine(row)) args.Int("\"stream\":", trace_.StreamOf(DeviceId{row}));
    }
    args.Int("\"process\":", trace_.tracks().process[device.track[row].value]);
    if (device.detail[row] != kNoDetail) {
      WriteDetail(kind, device.detail[row], args);
    }
    args.End();
  }

  // Whether the stream was not recorded and is taken from the line of the event, which is written
  // unchanged. Streams of several processes may be on other lines.
  bool IsStreamByLine(uint32_t row) const {
    const DeviceEvents& device = trace_.device();
    return device.kind[row] == DeviceKind::kKernel && device.detail[row] != kNoDetail &&
           trace_.kernels().has_stream[device.detail[row]] == 0 &&
           trace_.tracks().process[device.track[row].value] == kMissing;
  }

  void WriteDetail(DeviceKind kind, uint32_t detail, ChromeArgs& args) {
    switch (kind) {
      case DeviceKind::kKernel:
        return WriteKernel(detail, args);
      case DeviceKind::kMemcpy:
      case DeviceKind::kMemset:
        return WriteCopy(detail, args);
      case DeviceKind::kSync:
        return WriteSync(detail, args);
      case DeviceKind::kRange:
        return WriteRange(detail, args);
      case DeviceKind::kAnnotation:
      case DeviceKind::kOther:
        return;
    }
  }

  // Writes as many of the three as were recorded.
  void WriteTriple(std::string_view key, int32_t x, int32_t y, int32_t z, ChromeArgs& args) {
    if (x < 0) {
      return;
    }
    args.Key(key);
    text_.Put("[");
    text_.PutInt(x);
    if (y >= 0) {
      text_.Put(", ");
      text_.PutInt(y);
    }
    if (y >= 0 && z >= 0) {
      text_.Put(", ");
      text_.PutInt(z);
    }
    text_.Put("]");
  }

  void WriteKernel(uint32_t row, ChromeArgs& args) {
    const Kernels& kernels = trace_.kernels();
    args.Small("\"registers per thread\":", kernels.registers[row]);
    args.Small("\"shared memory\":", kernels.shared_bytes[row]);
    args.Small("\"private memory per thread\":", kernels.private_bytes[row]);
    WriteTriple("\"grid\":", kernels.grid_x[row], kernels.grid_y[row], kernels.grid_z[row], args);
    WriteTriple("\"block\":", kernels.block_x[row], kernels.block_y[row], kernels.block_z[row],
                args);
    args.Small("\"est. achieved occupancy %\":", kernels.occupancy_percent[row]);
    if (kernels.graph_node_id[row] != kMissing) {
      args.Key("\"graph node id\":");
      text_.PutUint(static_cast<uint64_t>(kernels.graph_node_id[row]));
    }
    args.Text("\"stream handle\":", kernels.stream_handle[row]);
    WriteCollective(trace_, kernels.collective[row], args);
  }

  void WriteCopy(uint32_t row, ChromeArgs& args) {
    const Copies& copies = trace_.copies();
    args.Int("\"bytes\":", copies.bytes[row]);
    if (copies.gbps[row] >= 0) {
      args.Number("\"memory bandwidth (GB/s)\":", copies.gbps[row]);
    }
    if (copies.call[row] != kNoDetail) {
      WriteCopyCall(copies.call[row], args);
    }
  }

  void WriteCopyCall(uint32_t row, ChromeArgs& args) {
    const CopyCalls& calls = trace_.copy_calls();
    args.Int("\"memcpy kind\":", calls.kind[row]);
    args.Text("\"stream handle\":", calls.stream_handle[row]);
    args.Text("\"source\":", calls.source[row]);
    args.Text("\"target\":", calls.target[row]);
    args.Int("\"source device\":", calls.source_device[row]);
    args.Int("\"target device\":", calls.target_device[row]);
    args.Int("\"width\":", calls.width[row]);
    args.Int("\"height\":", calls.height[row]);
    args.Int("\"is sync\":", calls.is_sync[row]);
    args.Int("\"is pinned\":", calls.is_pinned[row]);
  }

  void WriteSync(uint32_t row, ChromeArgs& args) {
    const Syncs& syncs = trace_.syncs();
    args.Int("\"stream\":", syncs.stream[row]);
    args.Int("\"wait_on_stream\":", syncs.wait_on_stream[row]);
    args.Int("\"wait_on_cuda_event_record_corr_id\":", syncs.wait_on_record_correlation[row]);
  }

  void WriteRange(uint32_t row, ChromeArgs& args) {
    const ProfilerRanges& ranges = trace_.ranges();
    const Metrics& metrics = trace_.metrics();
    for (uint32_t i = ranges.first_metric[row]; i < ranges.end_metric[row]; ++i) {
      args.Key("");
      text_.PutPooled(metrics.name[i]);
      text_.Put(":");
      text_.PutNumber(metrics.value[i]);
    }
  }

  uint64_t FlowId(uint32_t row) const {
    return static_cast<uint64_t>(input_.source.first_id) + row;
  }

  void WriteFlow(HostId launch, uint32_t row) {
    const HostEvents& host = trace_.host();
    text_.StartEvent();
    text_.Put(R"({"ph":"s","cat":"ac2g","name":"ac2g","id":)");
    text_.PutUint(FlowId(row));
    text_.Put(tracks_.Place(host.track[launch.value]));
    text_.PutTime(host.ts_ns[launch.value]);
    text_.Put("}");
    text_.StartEvent();
    text_.Put(R"({"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":)");
    text_.PutUint(FlowId(row));
    text_.Put(tracks_.Place(trace_.device().track[row]));
    text_.PutTime(trace_.device().ts_ns[row]);
    text_.Put("}");
  }

  const ConvertInput& input_;
  const Trace& trace_;
  const ChromeTracks& tracks_;
  ChromeText& text_;
};

}  // namespace

void WriteDeviceEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts) {
  DeviceWriter writer(input, tracks, text);
  const DeviceEvents& device = input.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (counts.Keep(input.Keeps(DeviceId{row}))) {
      writer.Write(row);
    }
  }
}

namespace {

void WriteMemoryEvent(const MemoryEvents& memory, size_t row, int64_t ts_ns,
                      const ChromeTracks& tracks, ChromeText& text) {
  text.StartEvent();
  text.Put(R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]")");
  text.Put(tracks.Place(memory.track[row]));
  text.PutTime(ts_ns);
  ChromeArgs args(text);
  args.Int("\"Total Reserved\":", memory.total_reserved[row]);
  args.Int("\"Total Allocated\":", memory.total_allocated[row]);
  args.Int("\"Bytes\":", memory.bytes[row]);
  args.Key("\"Addr\":");
  text.PutUint(memory.address[row]);
  args.Small("\"Device Id\":", memory.device[row]);
  args.Small("\"Device Type\":", memory.device_type[row]);
  args.End();
}

}  // namespace

void WriteMemoryEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts) {
  const MemoryEvents& memory = input.trace.memory();
  for (const size_t row : EachIndex(memory.size())) {
    const int64_t ts_ns =
        memory.ts_ns[row] == kMissing ? input.trace.begin_ns() : memory.ts_ns[row];
    if (counts.Keep(input.window.Holds(ts_ns))) {
      WriteMemoryEvent(memory, row, ts_ns, tracks, text);
    }
  }
}

void WriteFlows(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text) {
  const Flows& flows = input.trace.flows();
  for (const size_t row : EachIndex(flows.size())) {
    if (!input.window.Holds(flows.ts_ns[row])) {
      continue;
    }
    text.StartEvent();
    text.Put(flows.is_start[row] != 0 ? R"({"ph":"s","cat":"fwdbwd","name":"fwdbwd")"
                                      : R"({"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd")");
    if (flows.id[row] != kMissing) {
      text.Put(",\"id\":");
      text.PutInt(flows.id[row]);
    }
    text.Put(tracks.Place(flows.track[row]));
    text.PutTime(flows.ts_ns[row]);
    text.Put("}");
  }
}

// Values over time: depths of queues, whether GPUs work, and what monitors measured.

namespace {

// The texts of the events of one counter: before the time, and between time and value.
struct CounterText {
  std::string head;
  std::string args;
};

CounterText MakeCounter(int64_t pid, std::string_view name, std::string_view series) {
  CounterText counter{R"({"ph":"C","name":)", R"(,"args":{)"};
  AppendJsonString(counter.head, name);
  counter.head += fmt::format(R"(,"pid":{},"tid":0,"ts":)", pid);
  AppendJsonString(counter.args, series);
  counter.args += ':';
  return counter;
}

void WritePoint(const CounterText& counter, int64_t ts_ns, double value, ChromeText& text) {
  text.StartEvent();
  text.Put(counter.head);
  text.PutTime(ts_ns);
  text.Put(counter.args);
  text.PutNumber(value);
  text.Put("}}");
}

void WritePoints(const CounterText& counter, const std::vector<CounterPoint>& points,
                 ChromeText& text) {
  for (const CounterPoint& point : points) {
    WritePoint(counter, point.ts_ns, static_cast<double>(point.value), text);
  }
}

std::string QueueName(const Tracks& tracks, uint32_t track) {
  const std::string name = fmt::format("QueueDepth stream {}", tracks.tid[track]);
  return tracks.process[track] == kMissing
             ? name
             : fmt::format("{} of process {}", name, tracks.process[track]);
}

// ---- Monitors ----

// How one series of a monitor is written.
struct Series {
  CounterText sample;  // a sample, which is read back
  CounterText end;     // a point that is only drawn
  size_t last = 0;     // its last sample
};

// Only GPUs are processes of their own: everything else with a monitor is in process -1, with its
// name.
CounterText CounterOf(const Trace& trace, size_t sample) {
  constexpr int64_t kNoProcess = -1;
  const Samples& samples = trace.samples();
  const std::string_view type = trace.Text(samples.device_type[sample]);
  const std::string_view series = trace.Text(samples.name[sample]);
  const bool is_gpu = type.empty() || type == "gpu";
  if (is_gpu && samples.device[sample] != kMissing) {
    return MakeCounter(samples.device[sample], series, series);
  }
  return MakeCounter(kNoProcess, MonitorName(trace, sample), series);
}

// "monitor,gpu,2": what was monitored, as the reader of these files expects it.
std::string CategoryOf(const Trace& trace, size_t sample) {
  const Samples& samples = trace.samples();
  std::string category = fmt::format("monitor,{},", trace.Text(samples.device_type[sample]));
  if (samples.device[sample] != kMissing) {
    category += std::to_string(samples.device[sample]);
  }
  return category;
}

Series MakeSeries(const Trace& trace, size_t sample) {
  constexpr std::string_view kStart = R"({"ph":"C")";
  const CounterText counter = CounterOf(trace, sample);
  Series series{counter, counter, sample};
  std::string category = ",\"cat\":";
  AppendJsonString(category, CategoryOf(trace, sample));
  series.sample.head.insert(kStart.size(), category);
  return series;
}

class MonitorWriter {
 public:
  MonitorWriter(const Trace& trace, ChromeText& text) : trace_(trace), text_(text) {}

  void Write(size_t row) {
    const Samples& samples = trace_.samples();
    const std::tuple key(samples.device[row], samples.device_type[row].value,
                         samples.name[row].value);
    auto place = series_.find(key);
    if (place == series_.end()) {
      place = series_.emplace(key, MakeSeries(trace_, row)).first;
    }
    Series& series = place->second;
    series.last = samples.ts_ns[row] >= samples.ts_ns[series.last] ? row : series.last;
    text_.StartEvent();
    text_.Put(series.sample.head);
    text_.PutTime(samples.ts_ns[row]);
    text_.Put(",\"dur\":");
    text_.PutTime(samples.end_ns[row] - samples.ts_ns[row]);
    text_.Put(series.sample.args);
    text_.PutNumber(samples.value[row]);
    text_.Put("}}");
  }

  // Draws each counter again where its last value ends, as viewers keep the last value.
  void WriteEnds() {
    const Samples& samples = trace_.samples();
    std::vector<const Series*> series;
    series.reserve(series_.size());
    for (const auto& [key, one] : series_) {
      series.push_back(&one);
    }
    std::sort(series.begin(), series.end(),
              [](const Series* a, const Series* b) { return a->last < b->last; });
    for (const Series* one : series) {
      if (samples.end_ns[one->last] > samples.ts_ns[one->last]) {
        WritePoint(one->end, samples.end_ns[one->last], samples.value[one->last], text_);
      }
    }
  }

 private:
  const Trace& trace_;
  ChromeText& text_;
  std::map<std::tuple<int64_t, uint32_t, uint32_t>, Series> series_;  // by device, type, name
};

}  // namespace

void WriteCounters(const ConvertInput& input, ChromeText& text) {
  for (const DeviceTracks& device : DevicesOf(input.trace)) {
    WritePoints(MakeCounter(device.device, "GPU busy", "busy"), BusySteps(input, device), text);
    for (uint32_t track = device.first_track; track < device.end_track; ++track) {
      const std::string name = QueueName(input.trace.tracks(), track);
      WritePoints(MakeCounter(device.device, name, "depth"), QueueDepth(input, {track}), text);
    }
  }
}

void WriteSamples(const ConvertInput& input, ChromeText& text, ConvertCounts& counts) {
  const Samples& samples = input.trace.samples();
  MonitorWriter writer(input.trace, text);
  for (const size_t row : EachIndex(samples.size())) {
    if (counts.Keep(input.window.Holds(samples.ts_ns[row]))) {
      writer.Write(row);
    }
  }
  writer.WriteEnds();
}

}  // namespace borescope::internal
