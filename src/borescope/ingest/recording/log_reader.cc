#include "borescope/ingest/recording/log_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/ingest/cupti/cupti_names.h"
#include "borescope/ingest/recording/log_names.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

namespace {

using recording::CopyBody;
using recording::KernelBody;
using recording::RecordType;

// "No stream" as CUPTI writes it: a wait for a whole context.
constexpr uint32_t kNoStream = std::numeric_limits<uint32_t>::max();

int64_t StreamNumber(uint32_t recorded) { return recorded == kNoStream ? -1 : int64_t{recorded}; }

// CUpti_ActivityOverheadKind, as PyTorch's profiler names them.
std::string_view OverheadName(uint32_t kind) {
  constexpr std::array<std::string_view, 7> kNames = {"Buffer Flush",
                                                      "Instrumentation",
                                                      "Resource",
                                                      "Runtime Triggered Module Loading",
                                                      "Lazy Function Loading",
                                                      "Command Buffer Full",
                                                      "Activity Buffer Request"};
  const uint32_t of_cupti = kind >> 16U;
  if (kind == 1) {
    return "Driver Compiler";
  }
  return of_cupti >= 1 && of_cupti <= kNames.size() ? kNames[of_cupti - 1] : "Overhead";
}

}  // namespace

DeviceRecords::DeviceRecords(RecordingTrace& trace, const LogProcess& process, LogNames& names)
    : trace_(trace),
      process_(process),
      names_(names),
      kernel_(trace.Category("kernel")),
      copy_(trace.Category("copy")),
      set_(trace.Category("set")),
      sync_(trace.Category("wait")),
      memory_(trace.Category("memory")),
      graph_(trace.Category("graph")),
      overhead_(trace.Category("overhead")),
      counters_(trace.Category("counters")) {}

bool DeviceRecords::Add(const LogRecord& record) {
  switch (record.type()) {
    case RecordType::kKernel:
      return AddKernel(record), true;
    case RecordType::kCopy:
      return AddCopy(record), true;
    case RecordType::kSet:
      return AddSet(record), true;
    case RecordType::kSync:
      return AddSync(record), true;
    case RecordType::kMemory:
      return AddMemory(record), true;
    case RecordType::kGraphRun:
      return AddGraphRun(record), true;
    case RecordType::kOverhead:
      return AddOverhead(record), true;
    case RecordType::kSample:
      return AddSample(record), true;
    case RecordType::kCounters:  // known by their correlation; they come with their kernels
      return true;
    default:
      return false;
  }
}

int32_t DeviceRecords::Small(uint64_t value) {
  constexpr uint64_t kMost = std::numeric_limits<int32_t>::max();
  if (value > kMost) {
    trace_.diagnostics().Count(Diag::kIntegerOverflow, Diagnostics::kNoByte,
                               "a number of a device record");
  }
  return static_cast<int32_t>(std::min(value, kMost));
}

void DeviceRecords::AddRow(DeviceKind kind, RecordTime time, StringId name, int64_t device,
                           int64_t stream, uint32_t correlation, uint32_t detail) {
  AddDeviceRow(trace_.data().device, {.ts_ns = time.ts_ns,
                                      .dur_ns = time.dur_ns,
                                      .name = name,
                                      .kind = kind,
                                      .correlation = process_.Correlation(correlation),
                                      .external_id = names_.ExternalOf(correlation),
                                      .detail = detail});
  trace_.lines().Add(device, stream, process_.pid);
}

// False if the work has no place on the timeline; `detail` then has no owner.
bool DeviceRecords::AddWork(const Work& work, uint32_t detail) {
  RecordTime time;
  if (!trace_.Span(work.category, work.start, work.end, time)) {
    return false;
  }
  AddRow(work.kind, time, work.name, work.device, work.stream, work.correlation, detail);
  return true;
}

// Records of roctracer say nothing of the grid; the calls that launched them do.
KernelBody DeviceRecords::KernelOf(const LogRecord& record) const {
  auto body = record.As<KernelBody>();
  const LaunchShape* shape = body.grid[0] == 0 ? names_.ShapeOf(record.head.a) : nullptr;
  if (shape != nullptr) {
    std::copy(std::begin(shape->grid), std::end(shape->grid), body.grid);
    std::copy(std::begin(shape->block), std::end(shape->block), body.block);
    body.dynamic_shared_bytes = shape->shared_bytes;
  }
  return body;
}

void DeviceRecords::AddShape(uint32_t row, const KernelBody& body) {
  Kernels& kernels = trace_.data().kernels;
  kernels.grid_x[row] = Small(body.grid[0]);
  kernels.grid_y[row] = Small(body.grid[1]);
  kernels.grid_z[row] = Small(body.grid[2]);
  kernels.block_x[row] = Small(body.block[0]);
  kernels.block_y[row] = Small(body.block[1]);
  kernels.block_z[row] = Small(body.block[2]);
  kernels.shared_bytes[row] =
      Small(uint64_t{body.static_shared_bytes} + uint64_t{body.dynamic_shared_bytes});
}

void DeviceRecords::AddKernel(const LogRecord& record) {
  const KernelBody body = KernelOf(record);
  Kernels& kernels = trace_.data().kernels;
  const StringId name = trace_.KernelName(names_.Text(body.name));
  if (name == StringId{0}) {
    trace_.diagnostics().Count(Diag::kMissingName, Diagnostics::kNoByte, "a kernel");
  }
  const Work work{kernel_,     DeviceKind::kKernel,       name,         body.start_ns, body.end_ns,
                  body.device, StreamNumber(body.stream), record.head.a};
  if (!AddWork(work, static_cast<uint32_t>(kernels.size()))) {
    return;
  }
  const uint32_t row = AddMissingRow(kernels);
  if (const CountedLaunch* const launch = names_.CountersOf(record.head.a); launch != nullptr) {
    AddCounters(*launch, work);
  }
  if (body.grid[0] != 0) {
    AddShape(row, body);
  }
  // Of a record without a grid the rest is not known, either.
  if (record.As<KernelBody>().grid[0] != 0) {
    kernels.registers[row] = Small(body.registers);
    kernels.private_bytes[row] = Small(body.local_bytes);
  }
  if (body.graph_node != 0) {
    kernels.graph_node_id[row] = static_cast<int64_t>(body.graph_node);
    graph_launches_.insert(record.head.a);
  }
}

// What was counted for a kernel, as a range over it; once, also where several records have the
// number of its launch.
void DeviceRecords::AddCounters(const CountedLaunch& launch, const Work& kernel) {
  if (!counted_.insert(kernel.correlation).second) {
    return;
  }
  TraceData& data = trace_.data();
  const auto detail = static_cast<uint32_t>(data.ranges.size());
  const Work range{counters_,  DeviceKind::kRange, kernel.name,   kernel.start,
                   kernel.end, kernel.device,      kernel.stream, kernel.correlation};
  if (!AddWork(range, detail)) {
    return;
  }
  data.ranges.first_metric.push_back(static_cast<uint32_t>(data.metrics.size()));
  for (const auto& [metric, value] : launch.values) {
    data.metrics.name.push_back(names_.Text(metric));
    data.metrics.value.push_back(value);
  }
  data.ranges.end_metric.push_back(static_cast<uint32_t>(data.metrics.size()));
}

void DeviceRecords::AddCopy(const LogRecord& record) {
  const auto body = record.As<CopyBody>();
  if (!IsCopyKind(body.copy_kind)) {
    trace_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                               "copyKind " + std::to_string(body.copy_kind));
  }
  const StringId name = trace_.part().Intern(
      CopyName(body.copy_kind, body.source_kind, body.target_kind, MemoryKindNumbers::kCupti));
  Copies& copies = trace_.data().copies;
  if (!AddWork({copy_, DeviceKind::kMemcpy, name, body.start_ns, body.end_ns, body.device,
                StreamNumber(body.stream), record.head.a},
               static_cast<uint32_t>(copies.size()))) {
    return;
  }
  CopyCalls& calls = trace_.data().copy_calls;
  const uint32_t call = AddMissingRow(calls);
  calls.kind[call] = body.copy_kind;
  const uint32_t row = AddMissingRow(copies);
  copies.bytes[row] = std::max<int64_t>(0, static_cast<int64_t>(body.bytes));
  copies.call[row] = call;
  if (body.graph_node != 0) {
    graph_launches_.insert(record.head.a);
  }
}

void DeviceRecords::AddSet(const LogRecord& record) {
  const auto body = record.As<CopyBody>();
  const StringId name =
      trace_.part().Intern(MemsetName(body.target_kind, MemoryKindNumbers::kCupti));
  Copies& copies = trace_.data().copies;
  if (AddWork({set_, DeviceKind::kMemset, name, body.start_ns, body.end_ns, body.device,
               StreamNumber(body.stream), record.head.a},
              static_cast<uint32_t>(copies.size()))) {
    const uint32_t row = AddMissingRow(copies);
    copies.bytes[row] = std::max<int64_t>(0, static_cast<int64_t>(body.bytes));
  }
  if (body.graph_node != 0) {
    graph_launches_.insert(record.head.a);
  }
}

void DeviceRecords::AddSync(const LogRecord& record) {
  const StringId name = trace_.part().Intern(SyncName(LowHalf(record.body[2])));
  const int64_t stream = StreamNumber(HighHalf(record.body[2]));
  Syncs& syncs = trace_.data().syncs;
  if (AddWork({sync_, DeviceKind::kSync, name, record.body[0], record.body[1],
               names_.DeviceOf(LowHalf(record.body[3])), stream, record.head.a},
              static_cast<uint32_t>(syncs.size()))) {
    syncs.stream.push_back(stream);
    syncs.wait_on_stream.push_back(kMissing);
    syncs.wait_on_record_correlation.push_back(-1);
  }
}

// CUPTI's numbers: 1 allocates, 2 frees; kinds 1 and 2 are memory of the host.
void DeviceRecords::AddMemory(const LogRecord& record) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 61U;
  constexpr uint32_t kAllocate = 1;
  constexpr uint32_t kFree = 2;
  constexpr int32_t kCuda = 1;
  trace_.Count('i', memory_);
  const uint32_t operation = LowHalf(record.body[3]);
  const uint32_t kind = HighHalf(record.body[3]);
  if (record.body[2] > kMostBytes || (operation != kAllocate && operation != kFree)) {
    trace_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte, "an event of memory");
    return;
  }
  const bool is_host = kind == 1 || kind == 2;
  MemoryEvents& memory = trace_.data().memory;
  const auto bytes = static_cast<int64_t>(record.body[2]);
  memory.ts_ns.push_back(trace_.Time(record.body[0]));
  memory.track.push_back(trace_.Thread(process_, static_cast<uint32_t>(process_.pid)));
  memory.device_type.push_back(is_host ? 0 : kCuda);
  memory.device.push_back(is_host ? -1 : Small(LowHalf(record.body[4])));
  memory.address.push_back(record.body[1]);
  memory.bytes.push_back(operation == kFree ? -bytes : bytes);
  memory.category.push_back(MemoryCategory::kNone);
  memory.total_allocated.push_back(kMissing);
  memory.total_reserved.push_back(kMissing);
}

void DeviceRecords::AddGraphRun(const LogRecord& record) {
  RecordTime time;
  if (trace_.Span(graph_, record.body[0], record.body[1], time)) {
    graph_runs_.push_back({record.head.a, LowHalf(record.body[2]), LowHalf(record.body[3]),
                           HighHalf(record.body[3]), time});
  }
}

void DeviceRecords::AddOverhead(const LogRecord& record) {
  RecordTime time;
  if (trace_.Span(overhead_, record.body[0], record.body[1], time)) {
    const TrackId track = trace_.Thread(process_, names_.ThreadOf(record.body[2]));
    AddHostRow(trace_.data().host,
               {time.ts_ns, time.dur_ns, trace_.part().Intern(OverheadName(record.head.a)), track,
                HostKind::kOther, kNoDetail});
  }
}

// A series is called "gpu/0/power": what is watched, its number, what of it. Of others the whole
// text is the name.
void DeviceRecords::AddSample(const LogRecord& record) {
  const StringId series = names_.Text(record.head.a);
  Samples& samples = trace_.data().samples;
  const uint32_t row = AddMissingRow(samples);
  samples.ts_ns[row] = trace_.Time(record.body[0]);
  samples.end_ns[row] = samples.ts_ns[row];
  samples.name[row] = series;
  samples.value[row] = std::bit_cast<double>(record.body[1]);
  trace_.Count('C', series);
  const SeriesName parts = ParseSeriesName(trace_.data().strings.Get(series));
  if (parts.device != kMissing) {
    samples.device_type[row] = trace_.part().Intern(parts.type);
    samples.device[row] = parts.device;
    samples.name[row] = trace_.part().Intern(std::string(parts.name));
  }
}

void DeviceRecords::Finish() {
  for (const GraphRun& run : graph_runs_) {
    const StringId name = trace_.part().Intern("CUDA graph " + std::to_string(run.graph));
    const bool has_kernels = graph_launches_.contains(run.correlation);
    const uint32_t detail = has_kernels ? kNoDetail : AddMissingRow(trace_.data().kernels);
    AddRow(has_kernels ? DeviceKind::kAnnotation : DeviceKind::kKernel, run.time, name, run.device,
           StreamNumber(run.stream), run.correlation, detail);
  }
  graph_runs_.clear();
  for (const auto& [correlation, launch] : names_.counters()) {
    const recording::CountersBody& body = launch.body;
    AddCounters(launch, {counters_, DeviceKind::kRange, trace_.KernelName(names_.Text(body.name)),
                         body.start_ns, body.end_ns, body.device, -1, correlation});
  }
}

namespace {

using recording::DropSource;
using recording::RecordType;
using recording::StateKind;

// Whether a state means that something is missing which the program did.
bool IsGap(StateKind kind) {
  switch (kind) {
    case StateKind::kDiskFull:
    case StateKind::kLimitReached:
    case StateKind::kBackendMissing:
    case StateKind::kGap:
    case StateKind::kRingOverwrote:
      return true;
    case StateKind::kStarted:
    case StateKind::kStopped:
    case StateKind::kSlow:
      break;
  }
  return false;
}

// A ring says from its beginning how many chunks it has overwritten.
bool HasOverwritten(const LogRecord& state) {
  constexpr size_t kChunks = 2;
  return state.body.size() > kChunks && state.body[kChunks] != 0;
}

std::string_view StateText(StateKind kind) {
  switch (kind) {
    case StateKind::kDiskFull:
      return "the log could not grow";
    case StateKind::kLimitReached:
      return "the limit of bytes was reached";
    case StateKind::kBackendMissing:
      return "a source could not be recorded";
    case StateKind::kGap:
      return "a source was off, or a part of it";
    case StateKind::kRingOverwrote:
      return "the log is a ring, which holds the last part";
    default:
      return "";
  }
}

}  // namespace

LogReader::LogReader(RecordingTrace& trace, const LogSource& source,
                     const recording::LogHeader& header, LogProcess process)
    : trace_(trace),
      source_(source),
      header_(header),
      process_(process),
      is_ring_((header.flags & recording::kIsRing) != 0),
      names_(trace, process_),
      threads_(trace, process_, names_),
      devices_(trace, process_, names_) {}

void LogReader::Read(const std::function<void(uint64_t)>& read) {
  chunks_ = FindChunks(source_, header_, trace_.diagnostics());
  if (is_ring_) {
    LeaveOutOverwritten();
  }
  ReadAll({}, read);
}

void LogReader::ReadChunks(std::vector<LogChunk> chunks, std::span<const uint64_t> names,
                           const std::function<void(uint64_t)>& read) {
  chunks_ = std::move(chunks);
  ReadAll(names, read);
}

void LogReader::ReadAll(std::span<const uint64_t> names,
                        const std::function<void(uint64_t)>& read) {
  AddNames(names);
  ReadNames();
  uint64_t done = 0;
  for (const LogChunk& chunk : chunks_) {
    CheckStop();
    ReadEvents(chunk);
    read(done += chunk.bytes);
  }
  threads_.Finish();
  devices_.Finish();
}

uint64_t OverwrittenUntil(const LogSource& source, std::span<const LogChunk> chunks) {
  uint64_t until = 0;
  ChunkBuffer buffer;
  for (const LogChunk& chunk : chunks) {
    if (chunk.header.kind != recording::ChunkKind::kStrings) continue;
    LogRecords records(buffer.Read(source, chunk, true));
    for (LogRecord record; records.Next(record);) {
      const bool is_note = record.type() == RecordType::kState &&
                           record.head.a == static_cast<uint32_t>(StateKind::kRingOverwrote);
      if (is_note && HasOverwritten(record)) until = std::max(until, record.body[0]);
    }
  }
  return until;
}

// What a ring was about to overwrite, of which it may have overwritten what came next already.
void LogReader::LeaveOutOverwritten() {
  const uint64_t until = OverwrittenUntil(source_, chunks_);
  std::erase_if(chunks_, [until](const LogChunk& chunk) {
    return chunk.header.kind != recording::ChunkKind::kStrings && chunk.header.released_ns != 0 &&
           chunk.header.released_ns <= until;
  });
}

// Nothing is counted here: all records are read once more.
void LogReader::ReadNames() {
  for (const LogChunk& chunk : chunks_) {
    CheckStop();
    names_.AddChunk(chunk.header);
    AddNames(buffer_.Read(source_, chunk, is_ring_));
  }
  names_.Finish();
}

void LogReader::AddNames(std::span<const uint64_t> words) {
  LogRecords records(words);
  for (LogRecord record; records.Next(record);) {
    if (record.body.size() >= LeastWords(record.head)) {
      names_.Add(record);
    }
  }
}

bool LogReader::IsUsable(const LogRecord& record) {
  const size_t least = LeastWords(record.head);
  if (least == kUnknownRecord) {
    trace_.diagnostics().Count(Diag::kUnreadRows, Diagnostics::kNoByte,
                               "records of type " + std::to_string(record.head.type));
  } else if (record.body.size() < least) {
    trace_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                               "a record that is too short");
  }
  return record.body.size() >= least;
}

void LogReader::ReadEvents(const LogChunk& chunk) {
  threads_.BeginChunk(chunk.header.tid);
  LogRecords records(buffer_.Read(source_, chunk, is_ring_));
  for (LogRecord record; records.Next(record);) {
    if (IsUsable(record)) {
      AddEvent(record);
    }
  }
  if (records.is_torn()) {
    trace_.diagnostics().Count(Diag::kTornChunk, chunk.offset, "a record that cannot be");
  }
}

void LogReader::AddEvent(const LogRecord& record) {
  if (threads_.Add(record) || devices_.Add(record)) {
    return;
  }
  if (record.type() == RecordType::kState) {
    AddState(record);
  } else if (record.type() == RecordType::kDropped) {
    AddDropped(record);
  }
}

void LogReader::AddState(const LogRecord& record) {
  const auto kind = static_cast<StateKind>(record.head.a);
  trace_.Count('i', trace_.Category("state"));
  if (kind == StateKind::kRingOverwrote && !HasOverwritten(record)) {
    return;
  }
  if (IsGap(kind)) {
    const std::string_view text =
        kind == StateKind::kRingOverwrote ? std::string_view() : record.Text(1);
    trace_.diagnostics().Count(
        Diag::kRecordingGap, Diagnostics::kNoByte,
        trace_.data().strings.Get(trace_.Intern(text.empty() ? StateText(kind) : text)));
  }
}

void LogReader::AddDropped(const LogRecord& record) {
  const uint64_t count = record.body[0];
  if (static_cast<DropSource>(record.head.a) == DropSource::kUnmatched) {
    trace_.diagnostics().CountMany(Diag::kMissingTimestamp, count, Diagnostics::kNoByte,
                                   "a range that began before the recording");
    return;
  }
  trace_.diagnostics().CountMany(Diag::kDroppedRecords, count, Diagnostics::kNoByte,
                                 static_cast<DropSource>(record.head.a) == DropSource::kHost
                                     ? "records of threads"
                                     : "records of the vendor's library");
}

}  // namespace borescope::internal
