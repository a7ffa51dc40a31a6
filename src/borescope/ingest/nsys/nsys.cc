#include "borescope/ingest/nsys/nsys.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/cupti/demangle.h"
#include "borescope/ingest/nsys/nsys_threads.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

namespace {

constexpr int64_t kMostWarps = 1 << 16;
constexpr size_t kMostDevices = 1024;

enum DeviceColumn : uint8_t {
  kId,
  kCudaId,
  kName,
  kMemory,
  kProcessors,
  kMajor,
  kMinor,
  kWarps,
  kWarpSize
};
constexpr std::string_view kDeviceColumns[] = {"id",           "cuDevice",      "name",
                                               "totalMemory",  "smCount",       "computeMajor",
                                               "computeMinor", "maxWarpsPerSm", "threadsPerWarp"};

// The numbers by which CUDA knows the GPUs of the machine.
using CudaIds = std::vector<std::pair<int64_t, int64_t>>;  // (GPU, CUDA device)

Result<CudaIds> ReadCudaIds(const DatabaseInput& input, Diagnostics& diagnostics) {
  constexpr std::string_view kColumns[] = {"gpuId", "cudaId"};
  CudaIds ids;
  for (const std::string_view table : {"TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_CUDA_GPU"}) {
    BS_ASSIGN(TableRows rows, TableRows::Open(input, table, kColumns, diagnostics));
    while (true) {
      BS_ASSIGN(const bool is_row, rows.Next());
      if (!is_row || ids.size() == kMostDevices) {
        break;
      }
      ids.emplace_back(rows.Integer(0), rows.Integer(1));
    }
  }
  return ids;
}

DeviceInfo DeviceOf(TableRows& row, const CudaIds& ids) {
  DeviceInfo device;
  const int64_t gpu = row.Integer(kId);
  const auto known =
      std::find_if(ids.begin(), ids.end(), [gpu](const auto& pair) { return pair.first == gpu; });
  const int64_t cuda = known != ids.end() ? known->second : row.Integer(kCudaId);
  device.id = cuda != kMissing && cuda >= 0 ? cuda : gpu;
  device.name = row.Text(kName);
  device.total_bytes = row.Integer(kMemory);
  device.multiprocessors = row.Integer(kProcessors);
  device.compute_major = row.Integer(kMajor);
  device.compute_minor = row.Integer(kMinor);
  device.warp_size = row.Integer(kWarpSize);
  const int64_t warps = row.Integer(kWarps);
  if (warps > 0 && warps < kMostWarps) {
    const bool has_size = device.warp_size > 0 && device.warp_size < kMostWarps;
    device.max_threads_per_multiprocessor = warps * (has_size ? device.warp_size : 32);
  }
  return device;
}

Result<void> ReadDevices(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  BS_ASSIGN(const CudaIds ids, ReadCudaIds(input, diagnostics));
  BS_ASSIGN(TableRows rows, TableRows::Open(input, "TARGET_INFO_GPU", kDeviceColumns, diagnostics));
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Next());
    if (!is_row || meta.devices.size() == kMostDevices) {
      break;
    }
    meta.devices.push_back(DeviceOf(rows, ids));
  }
  std::stable_sort(meta.devices.begin(), meta.devices.end(),
                   [](const DeviceInfo& a, const DeviceInfo& b) { return a.id < b.id; });
  return {};
}

// Times of events count from the start of the session.
Result<void> ReadStartTime(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  constexpr int64_t kLatest = int64_t{1} << 61;
  constexpr std::string_view kColumns[] = {"utcEpochNs"};
  BS_ASSIGN(TableRows rows,
            TableRows::Open(input, "TARGET_INFO_SESSION_START_TIME", kColumns, diagnostics));
  BS_ASSIGN(const bool is_row, rows.Next());
  const int64_t start = is_row ? rows.Integer(0) : kMissing;
  if (start > 0 && start < kLatest) {
    meta.base_ns = start;
  }
  return {};
}

// "Nsight Systems 2024.5.1 (export schema 3.13.2)", as far as recorded.
Result<void> ReadProducer(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  constexpr std::string_view kColumns[] = {"name", "value"};
  constexpr size_t kLongestVersion = 64;
  BS_ASSIGN(TableRows rows, TableRows::Open(input, "META_DATA_EXPORT", kColumns, diagnostics));
  std::string product;
  std::string schema;
  BS_TRY(rows.ForEach([&] {
    const std::string_view name = rows.Text(0);
    const std::string_view value = rows.Text(1).substr(0, kLongestVersion);
    if (name == "EXPORT_PRODUCT_VERSION" || name == "NSIGHT_SYSTEMS_VERSION") {
      product = value;
    } else if (name == "EXPORT_SCHEMA_VERSION") {
      schema = value;
    }
  }));
  meta.producer = "Nsight Systems";
  meta.producer += product.empty() ? "" : " " + product;
  meta.producer += schema.empty() ? "" : " (export schema " + schema + ")";
  return {};
}

}  // namespace

Result<void> ReadNsysMeta(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics) {
  meta.vendor = Vendor::kNvidia;
  BS_TRY(ReadProducer(input, meta, diagnostics));
  BS_TRY(ReadStartTime(input, meta, diagnostics));
  return ReadDevices(input, meta, diagnostics);
}

namespace {

// "None" as an unsigned number.
bool IsNumber(int64_t number) {
  return number != kMissing && number >= 0 && number != std::numeric_limits<uint32_t>::max();
}

}  // namespace

Result<void> NsysEvents::Read(const DatabaseInput& input, CuptiTrace& trace) {
  enum Column : uint8_t { kProcess, kStream, kCorrelation, kEvent, kSync };
  constexpr std::string_view kColumns[] = {"globalPid", "streamId", "correlationId", "eventId",
                                           "eventSyncId"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input, kTable, kColumns, trace.diagnostics()));
  BS_TRY(rows.ForEach([&] {
    trace.part().CountEvent('i', trace.part().Intern(kTable), 0);
    const int64_t process = CuptiTrace::ProcessOf(rows.Integer(kProcess));
    const int64_t recorded = rows.Integer(kCorrelation);
    const int64_t correlation = trace.Correlation(recorded, process);
    const Record record{IsNumber(rows.Integer(kStream)) ? rows.Integer(kStream) : kMissing,
                        correlation == kMissing ? -1 : correlation};
    if (IsNumber(rows.Integer(kEvent))) {
      by_event_.push_back({process, rows.Integer(kEvent), recorded, record});
    }
    if (IsNumber(rows.Integer(kSync))) {
      by_sync_.push_back({process, rows.Integer(kSync), recorded, record});
    }
  }));
  const auto in_order = [](const Row& a, const Row& b) { return a.key() < b.key(); };
  std::sort(by_event_.begin(), by_event_.end(), in_order);
  std::sort(by_sync_.begin(), by_sync_.end(), in_order);
  return {};
}

// The last row of the number whose call is not later.
NsysEvents::Record NsysEvents::FindIn(const std::vector<Row>& rows, int64_t process, int64_t number,
                                      int64_t correlation) {
  const auto past =
      std::upper_bound(rows.begin(), rows.end(), std::tuple(process, number, correlation),
                       [](const auto& key, const Row& row) { return key < row.key(); });
  if (past == rows.begin()) {
    return {};
  }
  const Row& row = *std::prev(past);
  return row.process == process && row.number == number ? row.record : Record();
}

NsysEvents::Record NsysEvents::Find(const Wait& wait) const {
  if (IsNumber(wait.sync)) {
    const Record record = FindIn(by_sync_, wait.process, wait.sync, wait.correlation);
    if (record.stream != kMissing) {
      return record;
    }
  }
  return IsNumber(wait.event) ? FindIn(by_event_, wait.process, wait.event, wait.correlation)
                              : Record();
}

namespace {

constexpr std::string_view kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr std::string_view kCopyTable = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr std::string_view kMemsetTable = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr std::string_view kSyncTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
constexpr std::string_view kGraphTable = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr std::string_view kMemoryTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";

constexpr std::string_view kChainColumn = "callchainId";

// Calls of libraries that are recorded with a name and a thread.
struct CallTable {
  std::string_view table;
  std::string_view name_column;
  std::string_view domain;  // for calls outside the CUDA API; empty for CUDA
  // Refers to the call chain of a call; empty for none. The chains of CUDA's two tables are in one.
  std::string_view chain_column = "";
};
constexpr CallTable kCallTables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "nameId", "", kChainColumn},
    {"CUPTI_ACTIVITY_KIND_DRIVER", "nameId", "", kChainColumn},
    {"OSRT_API", "nameId", "osrt", kChainColumn},
    {"CUDNN_EVENTS", "nameId", "cudnn"},
    {"CUBLAS_EVENTS", "nameId", "cublas"},
    {"MPI_P2P_EVENTS", "textId", "mpi"},
    {"MPI_COLLECTIVES_EVENTS", "textId", "mpi"},
    {"MPI_START_WAIT_EVENTS", "textId", "mpi"},
    {"MPI_OTHER_EVENTS", "textId", "mpi"},
};

// The eventClass of a row that --cudabacktrace records around a call, for its call chain. The call
// itself has a row of its own.
constexpr int64_t kBacktraceClass = 67;

constexpr std::string_view kOtherKnownTables[] = {kKernelTable,
                                                  kCopyTable,
                                                  kMemsetTable,
                                                  kSyncTable,
                                                  kGraphTable,
                                                  kMemoryTable,
                                                  NsysEvents::kTable,
                                                  "NVTX_EVENTS",
                                                  NsysThreads::kScheduleTable,
                                                  NsysThreads::kSampleTable};

class NsysReader {
 public:
  explicit NsysReader(const DatabaseInput& input)
      : input_(input), trace_(MemoryKindNumbers::kNsightSystems), progress_(input, kTables) {}

  Result<void> Read();
  CuptiTrace& trace() { return trace_; }

 private:
  using AddRow = void (CuptiTrace::*)(TableRows& row);

  // A call of the CUDA API.
  struct Call {
    ActivityTime time;
    StringId name;
    TrackId track;
    int64_t correlation = kMissing;
    int64_t chain = kMissing;  // number of its call chain
  };

  bool WorkNamesProcesses() const;
  Result<void> ReadCalls(const CallTable& table);
  void AddCall(const Call& call);
  void AddLibraryCall(const Call& call, StringId domain);
  void AddBacktraces(std::span<const Call> backtraces);
  std::vector<StringId> WaitsByName();
  void NameSyncsByCalls();
  Result<void> ReadKernels();
  StringId KernelName(TableRows& row);
  // The row of RuntimeCalls that the next call gets.
  uint32_t NextCall() { return static_cast<uint32_t>(trace_.part().data.runtime_calls.size()); }
  std::string_view Text(StringId id) { return trace_.part().data.strings.Get(id); }
  Result<void> ReadWork(std::string_view table, std::span<const std::string_view> columns,
                        AddRow add);
  Result<void> ReadContexts();
  Result<void> ReadSyncs();
  Result<void> ReadMemory();
  void AddMemory(TableRows& row);
  Result<void> ReadThreadNames();
  bool IsStandIn(StringId text, int64_t number);
  Result<void> CountRest();

  // All tables that are read, the texts first.
  static constexpr size_t kTables = 1 + std::size(kCallTables) + std::size(kOtherKnownTables);

  const DatabaseInput& input_;
  CuptiTrace trace_;
  TableProgress progress_;
  TextTable strings_;
  NsysCallStacks call_stacks_{trace_.part()};
  Demangler demangle_;
  std::vector<StringId> kernel_names_;  // by the recorded one
};

// Exports of old releases do not: then correlations count for the whole file.
bool NsysReader::WorkNamesProcesses() const {
  for (const std::string_view table :
       {kKernelTable, kCopyTable, kMemsetTable, kSyncTable, kGraphTable}) {
    if (input_.schema.Has(table) && !input_.schema.Has(table, "globalPid")) {
      return false;
    }
  }
  return true;
}

Result<void> NsysReader::Read() {
  trace_.CorrelateByProcess(WorkNamesProcesses());
  BS_TRY(strings_.Read(input_.database, input_.schema, "StringIds", "id", "value", trace_.part()));
  strings_.Finish(trace_.diagnostics());
  progress_.Done();
  for (const CallTable& table : kCallTables) {
    BS_TRY(ReadCalls(table));
    progress_.Done();
  }
  NsysRanges ranges(strings_, trace_);
  BS_TRY(ranges.Read(input_));
  progress_.Done();
  NsysStacks stacks(strings_, trace_.part());
  BS_TRY(call_stacks_.Read(input_, stacks));
  NsysThreads threads(stacks, trace_);
  BS_TRY(threads.Read(input_));
  progress_.Done();
  progress_.Done();
  BS_TRY(ReadKernels());
  progress_.Done();
  BS_TRY(ReadWork(kCopyTable, CuptiTrace::kCopyColumns, &CuptiTrace::AddCopy));
  BS_TRY(ReadWork(kMemsetTable, CuptiTrace::kMemsetColumns, &CuptiTrace::AddMemset));
  BS_TRY(ReadWork(kGraphTable, CuptiTrace::kGraphColumns, &CuptiTrace::AddGraphLaunch));
  BS_TRY(ReadContexts());
  BS_TRY(ReadSyncs());
  NameSyncsByCalls();
  BS_TRY(ReadMemory());
  progress_.Done();
  BS_TRY(ReadThreadNames());
  trace_.ForgetLoneProcess();
  return CountRest();
}

Result<void> NsysReader::ReadCalls(const CallTable& table) {
  enum Column : uint8_t { kStart, kEnd, kThread, kCorrelation, kCallName, kClass, kChain };
  const std::string_view columns[] = {
      "start",           "end",        "globalTid",       "correlationId",
      table.name_column, "eventClass", table.chain_column};
  BS_ASSIGN(TableRows rows, TableRows::Open(input_, table.table, columns, trace_.diagnostics()));
  trace_.BeginTable(table.table);
  EventNames names(strings_, trace_.part(), ApiName);
  const StringId domain = trace_.part().Intern(table.domain);
  std::vector<Call> backtraces;
  BS_TRY(rows.ForEach([&] {
    Call call;
    if (!trace_.Time(rows.Integer(kStart), rows.Integer(kEnd), call.time)) {
      return;
    }
    const int64_t thread = rows.Integer(kThread);
    call.track = trace_.Thread(thread);
    call.name = names.Get(rows.Integer(kCallName));
    call.chain = rows.Integer(kChain);
    if (!table.domain.empty()) {
      AddLibraryCall(call, domain);
      return;
    }
    call.correlation =
        trace_.Correlation(rows.Integer(kCorrelation), CuptiTrace::ProcessOf(thread));
    if (rows.Integer(kClass) == kBacktraceClass) {
      backtraces.push_back(call);
    } else {
      AddCall(call);
    }
  }));
  AddBacktraces(backtraces);
  return {};
}

void NsysReader::AddCall(const Call& call) {
  call_stacks_.AddOfCuda(NextCall(), call.name, call.chain);
  trace_.AddCall(call.time, call.name, call.track, call.correlation);
}

void NsysReader::AddLibraryCall(const Call& call, StringId domain) {
  call_stacks_.AddOfSystem(NextCall(), call.name, call.chain);
  trace_.AddLibraryCall(call.time, call.name, call.track, domain);
}

// A backtrace says from where the call of the same number was made. Those of calls that were not
// recorded take their place.
void NsysReader::AddBacktraces(std::span<const Call> backtraces) {
  if (backtraces.empty()) {
    return;
  }
  const ColumnData<int64_t>& recorded = trace_.part().data.runtime_calls.correlation;
  HashMap<int64_t, uint32_t> calls;  // by correlation
  for (uint32_t call = 0; call < recorded.size(); ++call) {
    calls.emplace(recorded[call], call);
  }
  calls.erase(kMissing);
  for (const Call& backtrace : backtraces) {
    const auto call = calls.find(backtrace.correlation);
    if (call == calls.end()) {
      AddCall(backtrace);
    } else {
      call_stacks_.AddOfCuda(call->second, backtrace.name, backtrace.chain);
    }
  }
}

// By the number of a name: what a call of that name waits for; invalid for calls that do not.
std::vector<StringId> NsysReader::WaitsByName() {
  std::vector<StringId> waits(trace_.part().data.strings.size());
  for (uint32_t name = 0; name < waits.size(); ++name) {
    const std::string_view wait = SyncNameOfCall(Text({name}));
    waits[name] = wait.empty() ? StringId() : trace_.part().Intern(wait);
  }
  return waits;
}

// The numbers in syncType do not mean the same in all releases: some have 1 (an event) for
// cudaDeviceSynchronize, or 2 (a stream that waits) for cudaStreamSynchronize. What a wait waits
// for follows from its call, where that was recorded.
void NsysReader::NameSyncsByCalls() {
  TraceData& data = trace_.part().data;
  if (data.syncs.size() == 0) {
    return;
  }
  const std::vector<StringId> waits = WaitsByName();
  HashMap<int64_t, StringId> wait_of;  // by correlation
  for (const uint32_t row : EachRow(data.host.size())) {
    const StringId wait = waits[data.host.name[row].value];
    if (data.host.kind[row] == HostKind::kRuntime && wait.valid()) {
      wait_of.emplace(data.runtime_calls.correlation[data.host.detail[row]], wait);
    }
  }
  wait_of.erase(kMissing);
  for (const uint32_t row : EachRow(data.device.size())) {
    const auto wait = wait_of.find(data.device.correlation[row]);
    if (data.device.kind[row] == DeviceKind::kSync && wait != wait_of.end()) {
      data.device.name[row] = wait->second;
    }
  }
}

// The full name if there is one; the short one has no template arguments and parameters.
StringId NsysReader::KernelName(TableRows& row) {
  for (const int column : {kKernelColumns + 0, kKernelColumns + 1}) {
    const StringId id = strings_.Find(row.Integer(column));
    if (!id.valid() || Text(id).empty()) {
      continue;
    }
    if (kernel_names_.size() <= id.value) {
      kernel_names_.resize(id.value + 1);
    }
    StringId& name = kernel_names_[id.value];
    if (!name.valid()) {
      name = trace_.part().Intern(demangle_(Text(id)));
    }
    return name;
  }
  trace_.diagnostics().Count(Diag::kMissingName, Diagnostics::kNoByte, "a kernel");
  return StringId{0};
}

Result<void> NsysReader::ReadKernels() {
  constexpr std::string_view kColumns[] = {BS_KERNEL_COLUMNS, "demangledName", "shortName"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input_, kKernelTable, kColumns, trace_.diagnostics()));
  trace_.BeginTable(kKernelTable);
  return rows.ForEach([&] { trace_.AddKernel(rows, KernelName(rows)); });
}

Result<void> NsysReader::ReadWork(std::string_view table, std::span<const std::string_view> columns,
                                  AddRow add) {
  BS_ASSIGN(TableRows rows, TableRows::Open(input_, table, columns, trace_.diagnostics()));
  trace_.BeginTable(table);
  BS_TRY(rows.ForEach([&] { (trace_.*add)(rows); }));
  progress_.Done();
  return {};
}

// Contexts without recorded work have a device, too.
Result<void> NsysReader::ReadContexts() {
  constexpr std::string_view kColumns[] = {"processId", "contextId", "nullStreamId", "streamId",
                                           "deviceId"};
  for (const std::string_view table :
       {"TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_NULL_STREAM"}) {
    BS_ASSIGN(TableRows rows, TableRows::Open(input_, table, kColumns, trace_.diagnostics()));
    BS_TRY(rows.ForEach([&] {
      const int64_t stream = rows.Integer(2) == kMissing ? rows.Integer(3) : rows.Integer(2);
      trace_.contexts().Learn({rows.Integer(0), rows.Integer(1), stream}, rows.Integer(4),
                              ContextDevices::Source::kContextTable);
    }));
  }
  return {};
}

Result<void> NsysReader::ReadSyncs() {
  NsysEvents events;
  BS_TRY(events.Read(input_, trace_));
  progress_.Done();
  BS_ASSIGN(TableRows rows,
            TableRows::Open(input_, kSyncTable, CuptiTrace::kSyncColumns, trace_.diagnostics()));
  trace_.BeginTable(kSyncTable);
  BS_TRY(rows.ForEach([&] {
    const NsysEvents::Record record =
        events.Find({CuptiTrace::ProcessOf(rows.Integer(kWorkProcess)), rows.Integer(kSyncEvent),
                     rows.Integer(kSyncEventRecord), rows.Integer(kWorkCorrelation)});
    trace_.AddSync(rows, record.stream, record.correlation);
  }));
  progress_.Done();
  return {};
}

enum MemoryColumn : uint8_t {
  kMemoryStart,
  kMemoryProcess,
  kMemoryContext,
  kMemoryDevice,
  kMemoryAddress,
  kMemoryBytes,
  kMemoryKind,
  kMemoryOperation
};

Result<void> NsysReader::ReadMemory() {
  constexpr std::string_view kColumns[] = {
      "start",   "globalPid", "contextId", "deviceId",
      "address", "bytes",     "memKind",   "memoryOperationType"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input_, kMemoryTable, kColumns, trace_.diagnostics()));
  return rows.ForEach([&] { AddMemory(rows); });
}

// ENUM_CUDA_DEV_MEM_EVENT_OPER: 0 allocates, 1 frees; bytes are never negative.
void NsysReader::AddMemory(TableRows& row) {
  constexpr int64_t kLimit = int64_t{1} << 61;
  constexpr int32_t kCpu = 0;
  constexpr int32_t kCuda = 1;
  TracePart& part = trace_.part();
  part.CountEvent('i', part.Intern(kMemoryTable), 0);
  const int64_t start = row.Integer(kMemoryStart);
  const int64_t bytes = row.Integer(kMemoryBytes);
  const int64_t operation = row.Integer(kMemoryOperation);
  if (start == kMissing || bytes < 0 || bytes > kLimit || operation < 0 || operation > 1) {
    trace_.diagnostics().Count(start == kMissing ? Diag::kMissingTimestamp : Diag::kBadFieldType,
                               Diagnostics::kNoByte, kMemoryTable);
    return;
  }
  const int64_t process = CuptiTrace::ProcessOf(row.Integer(kMemoryProcess));
  const int64_t device = trace_.contexts().Find({process, row.Integer(kMemoryContext), kMissing},
                                                row.Integer(kMemoryDevice));
  const bool is_host = row.Integer(kMemoryKind) == 0 || row.Integer(kMemoryKind) == 1;
  MemoryEvents& memory = part.data.memory;
  memory.ts_ns.push_back(std::clamp(start, -kLimit, kLimit));
  memory.track.push_back(trace_.Thread(process, process));
  memory.device_type.push_back(is_host ? kCpu : kCuda);
  memory.device.push_back(is_host || device < 0 || device > std::numeric_limits<int32_t>::max()
                              ? -1
                              : static_cast<int32_t>(device));
  memory.address.push_back(static_cast<uint64_t>(row.Integer(kMemoryAddress)));
  memory.bytes.push_back(operation == 1 ? -bytes : bytes);
  memory.category.push_back(MemoryCategory::kNone);
  memory.total_allocated.push_back(kMissing);
  memory.total_reserved.push_back(kMissing);
}

// Whether a text only repeats its own number, as files without their texts have it: "string 35".
bool NsysReader::IsStandIn(StringId text, int64_t number) {
  return Text(text) == "string " + std::to_string(number);
}

Result<void> NsysReader::ReadThreadNames() {
  constexpr std::string_view kColumns[] = {"nameId", "globalTid"};
  TracePart& part = trace_.part();
  BS_ASSIGN(TableRows rows, TableRows::Open(input_, "ThreadNames", kColumns, trace_.diagnostics()));
  return rows.ForEach([&] {
    const StringId name = strings_.Find(rows.Integer(0));
    const int64_t thread = rows.Integer(1);
    if (name.valid() && thread != kMissing && !IsStandIn(name, rows.Integer(0))) {
      part.thread_names.push_back(
          {CuptiTrace::ProcessOf(thread), CuptiTrace::ThreadOf(thread), name});
    }
  });
}

Result<void> NsysReader::CountRest() {
  std::vector<std::string_view> known(std::begin(kOtherKnownTables), std::end(kOtherKnownTables));
  known.reserve(known.size() + std::size(kCallTables));
  for (const CallTable& table : kCallTables) {
    known.push_back(table.table);
  }
  return CountOtherTables(input_, known, trace_.part());
}

}  // namespace

bool IsNsys(const DatabaseSchema& schema) {
  return schema.Has("StringIds") &&
         std::any_of(schema.tables().begin(), schema.tables().end(), [](const auto& table) {
           return table.first.starts_with("CUPTI_ACTIVITY_KIND_") ||
                  table.first.starts_with("TARGET_INFO_") || table.first == "NVTX_EVENTS";
         });
}

Result<Trace> LoadNsys(DatabaseInput input) {
  Diagnostics early;
  BS_TRY(ReadNsysMeta(input, input.meta, early));
  NsysReader reader(input);
  reader.trace().diagnostics().Merge(early);
  BS_TRY(reader.Read());
  TraceBuilder builder;
  builder.Append(std::move(reader.trace().part()));
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

std::string_view NsysRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
      return "record with nsys profile --trace=cuda,nvtx";
    case MissingData::kDeviceWork:
      return "record with nsys profile --trace=cuda, over a part of the run in which the device "
             "works";
    case MissingData::kLaunches:
      return "record with nsys profile --trace=cuda from before the launches on";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx() under nsys profile "
             "--trace=cuda,nvtx";
    case MissingData::kMemory:
      return "record with nsys profile --cuda-memory-usage=true";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\") and record it with nsys profile "
             "--trace=cuda,nvtx";
    case MissingData::kGraphs:
      return "the profiled part used none, or record with nsys profile --trace=cuda "
             "--cuda-graph-trace=node";
    case MissingData::kCopies:
      return "record with nsys profile --trace=cuda, if the profiled part copied";
    default:
      return CommonRemedy(lack);
  }
}

}  // namespace borescope::internal
