#include "tests/support/writing/scenario_writer.h"

#include <fmt/format.h>

#include <array>

#include "tests/support/writing/scenario_damage.h"

namespace borescope::scenario {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

template <class E>
constexpr size_t Index(E e) {
  return static_cast<size_t>(e);
}

constexpr std::array<std::string_view, 4> kSyncNames = {"Stream Sync", "Context Sync", "Event Sync",
                                                        "Stream Wait Event"};

}  // namespace

TraceWriter::TraceWriter(const ScenarioConfig& config, const KernelCatalog& catalog,
                         const RankInfo& info, Sink* sink)
    : config_(config), catalog_(catalog), info_(info), pieces_(config, catalog, info), sink_(sink) {
  text_.reserve(kBufferBytes + (kBufferBytes >> 3));
}

void TraceWriter::FlushIfFull() {
  if (text_.size() < kBufferBytes) return;
  is_ok_ = is_ok_ && sink_->Write(text_);
  flushed_bytes_ += static_cast<int64_t>(text_.size());
  text_.clear();
}

bool TraceWriter::Finish() {
  is_ok_ = is_ok_ && sink_->Write(text_);
  flushed_bytes_ += static_cast<int64_t>(text_.size());
  text_.clear();
  return is_ok_;
}

void TraceWriter::BeginEvent() {
  FlushIfFull();
  if (events_ > 0) Put(pieces_.layout.between_events());
  event_begin_ = text_.size();
}

void TraceWriter::EndEvent(Fault fault, std::string_view phase, std::string_view category,
                           std::string_view name) {
  if (fault != Fault::kNone) {
    hits_.push_back(
        {fault, info_.rank, events_, std::string(phase), std::string(category), std::string(name)});
    std::string event = text_.substr(event_begin_);
    DamageText(fault, events_, pieces_.layout, &event);
    text_.replace(event_begin_, std::string::npos, event);
  }
  ++events_;
}

void TraceWriter::PutInt(int64_t value) {
  const fmt::format_int digits(value);
  text_.append(digits.data(), digits.size());
}

void TraceWriter::PutTime(int64_t ns) {
  if (ns < 0) {
    text_ += '-';
    ns = -ns;
  }
  PutInt(ns / 1000);
  if (config_.era == Era::kIntUs) return;
  const int64_t rest = ns % 1000;
  const char digits[] = {'.', static_cast<char>('0' + rest / 100),
                         static_cast<char>('0' + rest / 10 % 10),
                         static_cast<char>('0' + rest % 10)};
  size_t count = 4;
  // Scripts write the shortest number, but always one decimal.
  if (config_.era == Era::kFloatUs) {
    while (count > 2 && digits[count - 1] == '0') --count;
  }
  text_.append(digits, count);
}

void TraceWriter::PutName(HostName name, int64_t number) {
  Put(GetHostName(name).text);
  if (number >= 0) PutInt(number);
}

void TraceWriter::PutFlow(std::string_view head, int64_t id, const TextPieces::Row& row,
                          int64_t ts_ns, std::string_view tail) {
  BeginEvent();
  Put(head);
  PutInt(id);
  Put(row.after_flow_id);
  PutTime(ts_ns);
  Put(tail);
  EndEvent();
}

void TraceWriter::PutArg(Gap gap, std::string_view key, std::string_view json) {
  Put(pieces_.layout.Key(Depth::kArgs, gap, key));
  Put(pieces_.layout.Value(json, Depth::kArgs));
}

void TraceWriter::WriteStep(const StepBatch& batch) {
  for (const Thread thread : {Thread::kBackward, Thread::kMain}) {
    const bool is_main = thread == Thread::kMain;
    for (const HostEvent& event : batch.host[Index(thread)]) {
      WriteHost(event, thread);
      if (event.kind == HostKind::kPython) {
        WritePythonArgs(event);
      } else {
        WriteOpArgs(batch, event, thread);
      }
      if (event.flow_id == 0) continue;
      PutFlow(is_main ? pieces_.flow_start : pieces_.flow_end, event.flow_id,
              pieces_.threads[Index(thread)], event.ts_ns,
              is_main ? pieces_.forward_start_tail : pieces_.forward_end_tail);
    }
  }
  for (const MemoryEvent& event : batch.memory) WriteMemory(event);
  WriteActivities(batch);
  for (const OverheadEvent& event : batch.overheads) WriteOverhead(event);
  for (const DeviceAnnotation& note : batch.annotations) WriteDeviceAnnotation(note);
}

// Opens the event and leaves it inside its args.
void TraceWriter::WriteHost(const HostEvent& event, Thread thread) {
  BeginEvent();
  Put(event.kind == HostKind::kOp           ? pieces_.cpu_op
      : event.kind == HostKind::kAnnotation ? pieces_.user_annotation
                                            : pieces_.python_function);
  PutName(event.name, event.number);
  Put(pieces_.threads[Index(thread)].after_name);
  PutTime(event.ts_ns);
  Put(pieces_.dur);
  PutTime(event.dur_ns);
  Put(pieces_.args);
}

void TraceWriter::WritePythonArgs(const HostEvent& event) {
  Put(pieces_.python_id);
  PutInt(event.python_id);
  Put(pieces_.python_parent);
  if (event.python_parent == 0) {
    Put("null");
  } else {
    PutInt(event.python_parent);
  }
  if (event.number >= 0) {
    Put(pieces_.python_module);
    PutInt(event.number);
  }
  Put(pieces_.event_index);
  PutInt(event.event_index);
  Put(pieces_.args_end);
  EndEvent(event.fault, "X", "python_function", GetHostName(event.name).text);
}

void TraceWriter::WriteOpArgs(const StepBatch& batch, const HostEvent& event, Thread thread) {
  Put(pieces_.external_id);
  PutInt(event.external_id);
  if (config_.era != Era::kIntUs) {
    Put(pieces_.record_id);
    PutInt(event.record_id);
  }
  if (event.sequence >= 0) {
    Put(pieces_.sequence);
    PutInt(event.sequence);
    Put(pieces_.forward_thread);
    PutInt(thread == Thread::kBackward ? 1 : 0);
  }
  Put(pieces_.shapes[Index(event.name)]);
  if (event.collective >= 0) WriteCollective(batch.collectives[Index(event.collective)]);
  Put(pieces_.event_index);
  PutInt(event.event_index);
  Put(pieces_.args_end);
  const bool is_op = event.kind == HostKind::kOp;
  EndEvent(event.fault, "X", is_op ? "cpu_op" : "user_annotation", GetHostName(event.name).text);
}

void TraceWriter::WriteCollective(const Collective& collective) {
  // Recorded since PyTorch 2.2.
  if (config_.era == Era::kIntUs) return;
  Put(pieces_.collective_args[0]);
  PutInt(collective.elements);
  Put(pieces_.out_elements);
  PutInt(collective.elements);
  Put(pieces_.collective_args[1]);
  PutInt(collective.sequence);
}

// In the order in which the profiler's buffers hold them: NVIDIA delivers device work before the
// call that started it, AMD all calls before all work.
void TraceWriter::WriteActivities(const StepBatch& batch) {
  const bool is_cuda = config_.vendor == Vendor::kNvidia;
  for (const RuntimeCall& call : batch.calls) {
    if (is_cuda) {
      for (int32_t i = 0; i < call.device_count; ++i) {
        WriteDevice(batch, batch.device[Index(call.device_begin + i)]);
      }
      if (call.sync >= 0) WriteSync(batch.syncs[Index(call.sync)]);
    }
    if (!call.is_dropped) WriteCall(call);
  }
  if (is_cuda) return;
  for (const DeviceEvent& event : batch.device) WriteDevice(batch, event);
}

void TraceWriter::WriteCall(const RuntimeCall& call) {
  const ApiInfo& api = GetApi(config_.vendor, call.api);
  const TextPieces::Row& row = pieces_.threads[Index(call.thread)];
  BeginEvent();
  Put(pieces_.apis[Index(call.api)]);
  Put(row.after_name);
  PutTime(call.ts_ns);
  Put(pieces_.dur);
  PutTime(call.dur_ns);
  Put(pieces_.args);
  WriteCallArgs(call);
  Put(pieces_.args_end);
  EndEvent(call.fault, "X", api.category, api.name);
  PutFlow(api.starts_flow ? pieces_.flow_start : pieces_.flow_end, call.correlation, row,
          call.ts_ns, api.starts_flow ? pieces_.launch_start_tail : pieces_.launch_end_tail);
}

void TraceWriter::WriteCallArgs(const RuntimeCall& call) {
  if (call.external_id != 0) {
    Put(pieces_.external_id);
    PutInt(call.external_id);
    Put(pieces_.api_numbers[Index(call.api)]);
  } else {
    Put(pieces_.api_numbers_without_id[Index(call.api)]);
  }
  PutInt(call.correlation);
  if (config_.vendor == Vendor::kNvidia || call.device_count == 0) return;
  if (call.api != Api::kMemcpyAsync) {
    // A graph's kernels are not known to the call that launches them.
    if (call.api != Api::kGraphLaunch) Put(pieces_.host_args[Index(call.kernel)]);
    return;
  }
  PutArg(Gap::kSame, "src", R"("0x55674ecd4180")");
  PutArg(Gap::kSame, "dst", R"("0x7fda0e810200")");
  PutArg(Gap::kSame, "size", fmt::format("\"{}\"", call.bytes));
  PutArg(Gap::kSame, "kind", R"("1")");
}

void TraceWriter::WriteDevice(const StepBatch& batch, const DeviceEvent& event) {
  if (event.is_dropped) return;
  const KernelInfo& info = catalog_.Get(event.kernel);
  const bool is_kernel = info.kind == DeviceKind::kKernel;
  const bool is_memcpy = info.kind == DeviceKind::kMemcpy;
  const size_t stream = Index(event.stream);
  BeginEvent();
  Put(is_kernel ? pieces_.kernel : is_memcpy ? pieces_.gpu_memcpy : pieces_.gpu_memset);
  Put(info.name);
  Put(pieces_.streams[stream].after_name);
  PutTime(event.ts_ns);
  Put(pieces_.dur);
  PutTime(event.dur_ns);
  Put(pieces_.args);
  const auto& args = is_kernel ? pieces_.kernel_args[stream] : pieces_.copy_args[stream];
  if (event.external_id != 0) {
    Put(pieces_.external_id);
    PutInt(event.external_id);
  }
  Put(event.external_id != 0 ? args.after_id : args.without_id);
  PutInt(event.correlation);
  Put(pieces_.device_args[Index(event.kernel)]);
  if (!is_kernel) {
    Put(pieces_.bytes);
    PutInt(event.bytes);
    Put(pieces_.bandwidth);
    fmt::format_to(std::back_inserter(text_), "{}", event.bandwidth_gbps);
  }
  if (event.collective >= 0) WriteCollective(batch.collectives[Index(event.collective)]);
  Put(pieces_.args_end);
  EndEvent(event.fault, "X",
           is_kernel   ? "kernel"
           : is_memcpy ? "gpu_memcpy"
                       : "gpu_memset",
           info.name);
  PutFlow(pieces_.flow_end, event.correlation, pieces_.streams[stream], event.ts_ns,
          pieces_.launch_end_tail);
}

void TraceWriter::WriteSync(const SyncEvent& sync) {
  const bool on_stream =
      sync.kind == SyncKind::kStreamSync || sync.kind == SyncKind::kStreamWaitEvent;
  const bool on_event =
      sync.kind == SyncKind::kEventSync || sync.kind == SyncKind::kStreamWaitEvent;
  const TextPieces::Row& row = on_stream ? pieces_.streams[Index(sync.stream)] : pieces_.device;
  const std::string_view name = kSyncNames[Index(sync.kind)];
  const bool is_old = config_.era == Era::kIntUs;
  BeginEvent();
  Put(pieces_.cuda_sync);
  Put(name);
  Put(row.after_name);
  PutTime(sync.ts_ns);
  Put(pieces_.dur);
  PutTime(sync.dur_ns);
  Put(pieces_.args);
  const bool has_id = sync.external_id != 0;
  if (has_id) PutArg(Gap::kFirst, "External id", fmt::to_string(sync.external_id));
  PutArg(has_id ? Gap::kWide : Gap::kFirst, "cuda_sync_kind", fmt::format("\"{}\"", name));
  if (on_event) {
    PutArg(Gap::kWide, "wait_on_stream", pieces_.streams[Index(sync.wait_on)].tid);
    if (!is_old) {
      PutArg(Gap::kWide, "wait_on_cuda_event_record_corr_id",
             fmt::to_string(sync.record_correlation));
    }
    PutArg(Gap::kWide, "wait_on_cuda_event_id", fmt::to_string(sync.event_id));
  }
  PutArg(Gap::kWide, "stream", on_stream ? row.tid : is_old ? "4294967295" : "-1");
  PutArg(Gap::kSame, "correlation", fmt::to_string(sync.correlation));
  PutArg(Gap::kWide, "device", row.pid);
  PutArg(Gap::kSame, "context", "1");
  Put(pieces_.args_end);
  EndEvent();
}

void TraceWriter::WriteDeviceAnnotation(const DeviceAnnotation& note) {
  BeginEvent();
  Put(pieces_.gpu_user_annotation);
  PutName(note.name, note.number);
  Put(pieces_.streams[Index(note.stream)].after_name);
  PutTime(note.ts_ns);
  Put(pieces_.dur);
  PutTime(note.dur_ns);
  Put(pieces_.args);
  Put(pieces_.external_id);
  PutInt(note.external_id);
  Put(pieces_.args_end);
  EndEvent();
}

void TraceWriter::WriteMemory(const MemoryEvent& event) {
  // PyTorch's device types: 0 is the CPU, 1 CUDA, 6 HIP.
  const int64_t gpu_type = config_.vendor == Vendor::kAmd ? 6 : 1;
  const int64_t values[] = {event.reserved,
                            event.allocated,
                            event.bytes,
                            event.address,
                            event.on_device ? info_.rank % 8 : -1,
                            event.on_device ? gpu_type : 0};
  BeginEvent();
  Put(pieces_.memory_head);
  Put(pieces_.threads[Index(event.thread)].after_name);
  PutTime(event.ts_ns);
  Put(pieces_.args);
  for (size_t i = 0; i < pieces_.memory_args.size(); ++i) {
    Put(pieces_.memory_args[i]);
    PutInt(values[i]);
  }
  Put(pieces_.event_index);
  PutInt(event.event_index);
  Put(pieces_.args_end);
  EndEvent();
}

}  // namespace borescope::scenario
