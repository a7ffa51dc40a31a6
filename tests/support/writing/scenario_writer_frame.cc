// The parts of a trace file that surround the steps: top-level members, names of rows, spans.
#include <fmt/format.h>

#include "tests/support/model/scenario_random.h"
#include "tests/support/writing/scenario_writer.h"

namespace borescope::scenario {
namespace {

// Kineto breaks a device's line before these members.
constexpr std::string_view kBreakBefore[] = {"computeMajor", "maxThreadsPerBlock", "regsPerBlock",
                                             "sharedMemPerBlock", "regsPerMultiprocessor"};

std::string KinetoDevice(std::string object) {
  for (const std::string_view key : kBreakBefore) {
    const std::string found = fmt::format(", \"{}\"", key);
    const size_t at = object.find(found);
    if (at != std::string::npos) object.replace(at, 2, ",\n      ");
  }
  return "    {\n      " + object.substr(1, object.size() - 2) + "\n    }";
}

}  // namespace

void TraceWriter::WriteMember(std::string_view key, std::string_view json) {
  Put(pieces_.layout.Key(Depth::kTop, has_member_ ? Gap::kLine : Gap::kFirst, key));
  Put(pieces_.layout.Value(json, Depth::kTop));
  has_member_ = true;
}

void TraceWriter::WriteHeader() {
  if (!config_.bare_list) {
    Put(pieces_.layout.file_begin());
    WriteTopLevel();
    WriteMember("traceEvents", "");
  }
  Put(pieces_.layout.list_begin());
  // PyTorch's own exporter names the rows first, Kineto last.
  if (config_.layout == LayoutKind::kCompact) WriteMetadata();
}

void TraceWriter::WriteTopLevel() {
  WriteMember("schemaVersion", "1");
  WriteDeviceProperties();
  if (config_.world_size > 1) WriteDistributedInfo();
  WriteOptions();
  if (config_.era != Era::kIntUs) {
    WriteMember("trace_id", fmt::format("\"{:032X}\"", MixSeed(config_.seed)));
  }
  if (config_.base_time != BasePlace::kAfter) WriteBaseTime();
}

void TraceWriter::WriteBaseTime() {
  if (config_.era == Era::kIntUs) return;
  WriteMember("displayTimeUnit", config_.absolute ? "\"ns\"" : "\"ms\"");
  if (config_.base_time == BasePlace::kNone) return;
  WriteMember("baseTimeNanoseconds", fmt::format("{}", kBaseUnixNs));
}

void TraceWriter::WriteDeviceProperties() {
  const bool is_kineto = config_.layout == LayoutKind::kKineto;
  std::string json = "[";
  for (const std::string& device : DeviceProperties(config_.vendor)) {
    if (json.size() > 1) json += is_kineto ? "," : ", ";
    json += is_kineto ? "\n" + KinetoDevice(device) : device;
  }
  WriteMember("deviceProperties", json + (is_kineto ? "\n  ]" : "]"));
}

void TraceWriter::WriteDistributedInfo() {
  std::string json = fmt::format(R"({{"backend": "nccl", "rank": {}, "world_size": {})", info_.rank,
                                 config_.world_size);
  // Groups are listed since PyTorch 2.2; of a large one the list is shortened to a text.
  if (config_.era != Era::kIntUs) {
    const std::string list = RankList(config_.world_size);
    const bool is_long = config_.world_size > 30;
    json += fmt::format(
        R"(, "pg_count": 1, "pg_config": [{{"pg_name": "0", "pg_desc": "default_pg", )"
        R"("backend_config": "cuda:nccl", "pg_size": {}, "ranks": {}}}], "nccl_version": "2.21.5")",
        config_.world_size, is_long ? "\"" + list + "\"" : list);
  }
  WriteMember("distributedInfo", json + "}");
}

void TraceWriter::WriteOptions() {
  if (config_.with_shapes) WriteMember("record_shapes", "1");
  if (config_.with_memory) WriteMember("profile_memory", "1");
  if (config_.with_stack) WriteMember("with_stack", "1");
  if (config_.era == Era::kIntUs) return;
  if (config_.vendor == Vendor::kAmd) {
    WriteMember("hip_driver_version", "60443484");
    WriteMember("hip_runtime_version", "60443484");
    WriteMember("roctracer_version", "4.1");
  } else {
    WriteMember("cupti_version", "24");
    WriteMember("cuda_runtime_version", "12060");
    WriteMember("cuda_driver_version", "12080");
  }
}

void TraceWriter::PutMember(Gap gap, std::string_view key, std::string_view json) {
  Put(pieces_.layout.Key(Depth::kEvent, gap, key));
  Put(json);
}

void TraceWriter::WriteMetadata() {
  for (const MetadataRow& row : MetadataRows(config_, info_)) {
    BeginEvent();
    Put(pieces_.layout.event_begin());
    PutMember(Gap::kFirst, "name", "\"" + row.name + "\"");
    PutMember(Gap::kSame, "ph", "\"M\"");
    PutMember(Gap::kSame, "ts", "");
    PutTime(info_.begin_ns);
    PutMember(Gap::kSame, "pid", row.pid);
    PutMember(Gap::kSame, "tid", fmt::to_string(row.tid));
    Put(pieces_.args);
    PutArg(Gap::kFirst, row.key, row.value);
    Put(pieces_.args_end);
    EndEvent();
  }
}

void TraceWriter::WriteOverhead(const OverheadEvent& event) {
  BeginEvent();
  Put(pieces_.layout.event_begin());
  PutMember(Gap::kFirst, "ph", "\"X\"");
  PutMember(Gap::kSame, "cat", "\"overhead\"");
  PutMember(Gap::kSame, "name", "\"Activity Buffer Request\"");
  PutMember(Gap::kSame, "pid", "-1");
  PutMember(Gap::kSame, "tid", "0");
  PutMember(Gap::kLine, "ts", "");
  PutTime(event.ts_ns);
  PutMember(Gap::kSame, "dur", "");
  PutTime(event.dur_ns);
  Put(pieces_.layout.event_end());
  EndEvent();
}

void TraceWriter::WriteTraceSpan(const TraceTail& tail) {
  BeginEvent();
  Put(pieces_.layout.event_begin());
  PutMember(Gap::kFirst, "ph", "\"X\"");
  PutMember(Gap::kSame, "cat", "\"Trace\"");
  PutMember(Gap::kSame, "ts", "");
  PutTime(tail.begin_ns);
  PutMember(Gap::kSame, "dur", "");
  PutTime(tail.end_ns - tail.begin_ns);
  PutMember(Gap::kLine, "pid", "\"Spans\"");
  PutMember(Gap::kSame, "tid", "\"PyTorch Profiler\"");
  PutMember(Gap::kLine, "name", "\"PyTorch Profiler (0)\"");
  Put(pieces_.args);
  PutArg(Gap::kFirst, "Op count", "0");
  Put(pieces_.args_end);
  EndEvent();
}

void TraceWriter::WriteMarkers(const TraceTail& tail) {
  const auto write = [this](std::string_view name, std::string_view pid, std::string_view tid,
                            int64_t ts_ns) {
    BeginEvent();
    Put(pieces_.layout.event_begin());
    PutMember(Gap::kFirst, "name", fmt::format("\"{}\"", name));
    PutMember(Gap::kSame, "ph", "\"i\"");
    PutMember(Gap::kSame, "s", "\"g\"");
    PutMember(Gap::kLine, "pid", fmt::format("\"{}\"", pid));
    PutMember(Gap::kSame, "tid", fmt::format("\"{}\"", tid));
    PutMember(Gap::kSame, "ts", "");
    PutTime(ts_ns);
    Put(pieces_.layout.event_end());
    EndEvent();
  };
  write("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", tail.begin_ns);
  write("Record Window End", "", "", tail.end_ns + 1'000'000);
}

void TraceWriter::WriteTail(const TraceTail& tail) {
  for (const HostEvent& frame : tail.root_frames) {
    WriteHost(frame, Thread::kMain);
    WritePythonArgs(frame);
  }
  if (config_.layout != LayoutKind::kCompact) WriteMetadata();
  WriteTraceSpan(tail);
  WriteMarkers(tail);
  if (!tail.is_truncated) return WriteEnd();
  // A full disk: half of the last event is missing, and so is all that should have followed.
  hits_.push_back({Fault::kTruncated, info_.rank, events_ - 1, "i", "", "Record Window End"});
  text_.resize(event_begin_ + (text_.size() - event_begin_) / 2);
}

void TraceWriter::WriteEnd() {
  Put(pieces_.layout.list_end());
  if (config_.bare_list) {
    Put("\n");
    return;
  }
  WriteMember("traceName", fmt::format("\"/tmp/{}\"", info_.file));
  if (config_.base_time == BasePlace::kAfter) WriteBaseTime();
  Put(pieces_.layout.file_end());
}

}  // namespace borescope::scenario
