#include "tests/support/scenario_recorder.h"

#include <algorithm>

namespace borescope::scenario {
namespace {

constexpr int64_t kMicrosecond = 1000;

// Bytes per nanosecond = GB/s.
int64_t CopyNs(Kernel kernel, int64_t bytes) {
  switch (kernel) {
    case Kernel::kMemcpyHtoD:
    case Kernel::kMemcpyDtoH:
      return 1800 + bytes / 25;
    case Kernel::kMemcpyDtoD:
      return 1500 + bytes / 1300;
    default:
      return 1400 + bytes / 2600;
  }
}

}  // namespace

Recorder::Recorder(const ScenarioConfig& config, const KernelCatalog& catalog, int rank,
                   int64_t begin_ns)
    : config_(config),
      catalog_(catalog),
      random_(MixSeed(config.seed) + static_cast<uint64_t>(rank)),
      // Events whose ends are less than a microsecond apart would cross each other once truncated
      // to microseconds; keeping them apart keeps the tree of the written events unambiguous.
      min_gap_ns_(config.era == Era::kIntUs ? kMicrosecond : 30),
      kernel_percent_(rank == config.straggler ? 135 : 100),
      next_correlation_(100 + random_.Below(20000)) {
  for (HostClock& clock : clocks_) clock.now_ns = begin_ns;
  clocks_[Index(Thread::kMain)].open_python = kMainFrameId;
  for (StreamState& stream : streams_) stream.free_ns = begin_ns;
}

void Recorder::SwitchThread(Thread thread, int64_t not_before_ns) {
  thread_ = thread;
  clock().now_ns = std::max(clock().now_ns + min_gap_ns_, not_before_ns);
}

// Time between the last thing that happened on this thread and a new event. A first child may
// begin together with its parent.
void Recorder::Lead() {
  HostClock& c = clock();
  c.now_ns += c.after_begin ? random_.Below(900) : min_gap_ns_ + random_.Below(900);
}

// Time between the last thing that happened and the end of the innermost event.
void Recorder::Trail() {
  HostClock& c = clock();
  c.now_ns += c.after_begin ? 350 + random_.Below(2400) : min_gap_ns_ + random_.Below(900);
}

void Recorder::FillIds(HostEvent* event) {
  if (event->kind == HostKind::kPython) {
    event->python_id = next_python_id_++;
    event->python_parent = clock().open_python;
    return;
  }
  event->external_id = next_external_id_++;
  event->record_id = next_record_id_++;
}

HostEvent& Recorder::Begin(HostName name) {
  Lead();
  HostClock& c = clock();
  if (!c.open.empty()) events()[static_cast<size_t>(c.open.back())].is_leaf = false;
  const int32_t index = static_cast<int32_t>(events().size());
  HostEvent& event = events().emplace_back();
  event.name = name;
  event.kind = GetHostName(name).kind;
  event.ts_ns = c.now_ns;
  event.parent_op = c.open_op;
  FillIds(&event);
  if (event.kind == HostKind::kOp) c.open_op = index;
  if (event.kind == HostKind::kPython) c.open_python = event.python_id;
  c.open.push_back(index);
  c.after_begin = true;
  return event;
}

void Recorder::End() {
  Trail();
  HostClock& c = clock();
  HostEvent& event = events()[static_cast<size_t>(c.open.back())];
  event.dur_ns = c.now_ns - event.ts_ns;
  c.open.pop_back();
  if (event.kind == HostKind::kOp) c.open_op = event.parent_op;
  if (event.kind == HostKind::kPython) c.open_python = event.python_parent;
  c.after_begin = false;
}

int32_t Recorder::Call(Api api, int64_t dur_ns) {
  Lead();
  HostClock& c = clock();
  if (!c.open.empty()) events()[static_cast<size_t>(c.open.back())].is_leaf = false;
  RuntimeCall& call = batch_->calls.emplace_back();
  call.ts_ns = c.now_ns;
  call.dur_ns = dur_ns;
  call.correlation = next_correlation_++;
  call.api = api;
  call.thread = thread_;
  call.op = c.open_op;
  // Old profilers wrote the correlation where new ones write the op's id.
  if (config_.era == Era::kIntUs) {
    call.external_id = call.correlation;
  } else if (c.open_op >= 0) {
    call.external_id = events()[static_cast<size_t>(c.open_op)].external_id;
  }
  call.device_begin = static_cast<int32_t>(batch_->device.size());
  c.now_ns += dur_ns;
  c.after_begin = false;
  return static_cast<int32_t>(batch_->calls.size()) - 1;
}

int64_t Recorder::EarliestStart(int32_t call, Stream stream) {
  const int64_t latency_ns = 3200 + random_.Below(3600);
  const StreamState& state = streams_[Index(stream)];
  const int64_t launched_ns = batch_->calls[static_cast<size_t>(call)].ts_ns + latency_ns;
  return std::max({launched_ns, state.free_ns, state.wait_ns});
}

void Recorder::AddDeviceEvent(int32_t call, Kernel kernel, Stream stream, int64_t dur_ns) {
  RuntimeCall& launch = batch_->calls[static_cast<size_t>(call)];
  DeviceEvent& event = batch_->device.emplace_back();
  event.ts_ns = EarliestStart(call, stream);
  event.dur_ns = dur_ns;
  event.correlation = launch.correlation;
  event.external_id = launch.external_id;
  event.call = call;
  event.kernel = kernel;
  event.stream = stream;
  ++launch.device_count;
  launch.kernel = kernel;
  launch.stream = stream;
  StreamState& state = streams_[Index(stream)];
  state.last_end_ns = event.ts_ns + dur_ns;
  state.free_ns = state.last_end_ns + 250 + random_.Below(900);
}

void Recorder::Launch(Kernel kernel, Stream stream) {
  const KernelInfo& info = catalog_.Get(kernel);
  const int32_t call = Call(info.api, 2800 + random_.Below(3400));
  AddDeviceEvent(call, kernel, stream, random_.Jitter(info.usual_ns, 80) * kernel_percent_ / 100);
}

void Recorder::LaunchFor(int64_t dur_ns, Kernel kernel, Stream stream) {
  AddDeviceEvent(Call(catalog_.Get(kernel).api, 2800 + random_.Below(3400)), kernel, stream,
                 dur_ns);
}

void Recorder::Copy(Kernel kernel, Stream stream, int64_t bytes) {
  const int32_t call = Call(catalog_.Get(kernel).api, 3600 + random_.Below(4200));
  const int64_t dur_ns = random_.Jitter(CopyNs(kernel, bytes), 60);
  AddDeviceEvent(call, kernel, stream, dur_ns);
  batch_->calls.back().bytes = bytes;
  batch_->device.back().bytes = bytes;
  batch_->device.back().bandwidth_gbps = static_cast<double>(bytes) / static_cast<double>(dur_ns);
}

void Recorder::LaunchGraph(const std::vector<Kernel>& kernels) {
  const int32_t call = Call(Api::kGraphLaunch, 9000 + random_.Below(6000));
  for (const Kernel kernel : kernels) {
    const int64_t usual_ns = catalog_.Get(kernel).usual_ns;
    AddDeviceEvent(call, kernel, Stream::kCompute,
                   random_.Jitter(usual_ns, 80) * kernel_percent_ / 100);
  }
}

void Recorder::LaunchCollective(int32_t collective) {
  const int32_t call = Call(Api::kLaunchCooperative, 5200 + random_.Below(5000));
  // The stream's own time moves on only when the end is known, in Resolve.
  const StreamState before = streams_[Index(Stream::kComm)];
  AddDeviceEvent(call, Kernel::kAllReduce, Stream::kComm, 0);
  streams_[Index(Stream::kComm)] = before;
  DeviceEvent& event = batch_->device.back();
  event.collective = collective;
  pending_.push_back({.device_event = static_cast<int32_t>(batch_->device.size()) - 1,
                      .earliest_ns = event.ts_ns});
}

void Recorder::Resolve(const PendingCollective& pending, int64_t start_ns, int64_t end_ns) {
  DeviceEvent& event = batch_->device[static_cast<size_t>(pending.device_event)];
  event.ts_ns = start_ns;
  event.dur_ns = end_ns - start_ns;
  StreamState& state = streams_[Index(Stream::kComm)];
  state.last_end_ns = end_ns;
  state.free_ns = end_ns + 600;
}

StreamMark Recorder::Record(Stream stream) {
  const int32_t call = Call(Api::kEventRecord, 700 + random_.Below(1200));
  streams_[Index(stream)].mark_correlation = batch_->calls[static_cast<size_t>(call)].correlation;
  return LastMark(stream);
}

StreamMark Recorder::LastMark(Stream stream) const {
  const StreamState& state = streams_[Index(stream)];
  return {.ready_ns = state.last_end_ns, .correlation = state.mark_correlation, .stream = stream};
}

SyncEvent* Recorder::AddSync(int32_t call, SyncKind kind, Stream stream) {
  RuntimeCall& owner = batch_->calls[static_cast<size_t>(call)];
  owner.sync = static_cast<int32_t>(batch_->syncs.size());
  SyncEvent& sync = batch_->syncs.emplace_back();
  sync.ts_ns = owner.ts_ns + 400;
  sync.dur_ns = std::max<int64_t>(200, owner.dur_ns - 700);
  sync.correlation = owner.correlation;
  sync.external_id = owner.external_id;
  sync.kind = kind;
  sync.stream = stream;
  return &sync;
}

void Recorder::WaitOnDevice(Stream stream, const StreamMark& mark) {
  const int32_t call = Call(Api::kStreamWaitEvent, 700 + random_.Below(1100));
  StreamState& state = streams_[Index(stream)];
  state.wait_ns = std::max(state.wait_ns, mark.ready_ns + 400);
  SyncEvent* sync = AddSync(call, SyncKind::kStreamWaitEvent, stream);
  sync->wait_on = mark.stream;
  sync->record_correlation = mark.correlation;
  sync->event_id = next_event_id_++;
}

void Recorder::WaitOnHost(const StreamMark& mark) {
  const int64_t minimum_ns = 1500 + random_.Below(900);
  const int64_t remaining_ns = mark.ready_ns - now() + 2200;
  const int32_t call = Call(Api::kEventSynchronize, std::max(minimum_ns, remaining_ns));
  SyncEvent* sync = AddSync(call, SyncKind::kEventSync, mark.stream);
  sync->wait_on = mark.stream;
  sync->record_correlation = mark.correlation;
  sync->event_id = next_event_id_++;
}

void Recorder::SynchronizeStream(Stream stream) {
  const int64_t minimum_ns = 2000 + random_.Below(1500);
  const int64_t remaining_ns = streams_[Index(stream)].last_end_ns - now() + 3100;
  const int32_t call = Call(Api::kStreamSynchronize, std::max(minimum_ns, remaining_ns));
  // The record is the device's: it begins when the stream has drained, and ends with the call.
  SyncEvent* sync = AddSync(call, SyncKind::kStreamSync, stream);
  const int64_t end_ns = sync->ts_ns + sync->dur_ns;
  sync->ts_ns = std::max(sync->ts_ns, streams_[Index(stream)].last_end_ns);
  sync->dur_ns = std::max<int64_t>(200, end_ns - sync->ts_ns);
}

void Recorder::SynchronizeDevice() {
  int64_t last_end_ns = 0;
  for (const StreamState& state : streams_) last_end_ns = std::max(last_end_ns, state.last_end_ns);
  const int64_t minimum_ns = 3000 + random_.Below(2000);
  const int32_t call =
      Call(Api::kDeviceSynchronize, std::max(minimum_ns, last_end_ns - now() + 4200));
  AddSync(call, SyncKind::kContextSync, Stream::kCompute);
}

void Recorder::AddMemory(const LiveBlock& block, int64_t bytes) {
  if (block.on_device) allocated_bytes_ += bytes;
  if (!config_.with_memory) return;
  MemoryEvent& event = batch_->memory.emplace_back();
  event.ts_ns = now() + 120;
  event.address = block.address;
  event.bytes = bytes;
  event.allocated = block.on_device ? allocated_bytes_ : 0;
  event.reserved = block.on_device ? 12884901888 : 0;
  event.thread = thread_;
  event.on_device = block.on_device;
}

void Recorder::Allocate(int64_t bytes, bool on_device) {
  live_.push_back({.address = next_address_, .bytes = bytes, .on_device = on_device});
  next_address_ += (bytes + 511) / 512 * 512;
  AddMemory(live_.back(), bytes);
}

void Recorder::FreeAll() {
  while (!live_.empty()) Free();
}

void Recorder::Free() {
  if (live_.empty()) return;
  const LiveBlock block = live_.back();
  live_.pop_back();
  next_address_ = block.address;
  AddMemory(block, -block.bytes);
}

}  // namespace borescope::scenario
