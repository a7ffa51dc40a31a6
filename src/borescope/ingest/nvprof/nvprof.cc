#include "borescope/ingest/nvprof/nvprof.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/cupti/cupti_names.h"
#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/cupti/demangle.h"
#include "borescope/ingest/cupti/nvtx_text.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_MARKER";

struct MarkerRow {
  enum Column : uint8_t { kFlags, kTimestamp, kId, kObjectKind, kObject, kName, kDomain };
  static constexpr std::string_view kColumns[] = {"flags",    "timestamp", "id",    "objectKind",
                                                  "objectId", "name",      "domain"};
};

// CUpti_ActivityFlag.
constexpr int64_t kInstant = 1;
constexpr int64_t kStartFlag = 2;
constexpr int64_t kEndFlag = 4;

// The process as 4 bytes, then the thread as 8, of which the upper half repeats the sign.
constexpr size_t kObjectBytes = 12;
// CUpti_ActivityObjectKind: what `objectId` names.
constexpr int64_t kProcessObject = 1;

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

Result<void> NvprofMarkers::Read(const DatabaseInput& input) {
  BS_ASSIGN(TableRows rows,
            TableRows::Open(input, kTable, MarkerRow::kColumns, trace_.diagnostics()));
  trace_.BeginTable(kTable);
  BS_TRY(rows.ForEach([&] { Add(rows); }));
  AddOpenRanges();
  return {};
}

void NvprofMarkers::Add(TableRows& row) {
  const int64_t flags = row.Integer(MarkerRow::kFlags);
  if (flags == kMissing || (flags & (kStartFlag | kEndFlag)) == 0) {
    trace_.part().CountEvent((flags & kInstant) != 0 && flags != kMissing ? 'i' : '?',
                             trace_.part().Intern(kTable), 0);
    return;
  }
  const int64_t time_ns = row.Integer(MarkerRow::kTimestamp);
  Range& range = open_[row.Integer(MarkerRow::kId)];
  if ((flags & kStartFlag) != 0) {
    if (range.start.ts_ns != kMissing) {
      AddRange({range.start});  // its number is used again: it never ended
    }
    range.start = {time_ns, row.Integer(MarkerRow::kName), row.Integer(MarkerRow::kDomain),
                   OwnerOf(row)};
  } else {
    range.end_ns = time_ns;
    range.end_owner = OwnerOf(row);
  }
  if (range.start.ts_ns != kMissing && range.end_ns != kMissing) {
    AddRange(range);
    open_.erase(row.Integer(MarkerRow::kId));
  }
}

NvprofMarkers::Owner NvprofMarkers::OwnerOf(TableRows& row) {
  const std::string_view object = row.Blob(MarkerRow::kObject);
  if (object.size() < kObjectBytes) {
    trace_.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte, "MARKER.objectId");
    return {};
  }
  const auto process = static_cast<int64_t>(LittleEndian(object.substr(0, 4)));
  const auto thread = static_cast<int64_t>(LittleEndian(object.substr(4, 4)));
  const bool is_process = row.Integer(MarkerRow::kObjectKind) == kProcessObject;
  return {process, is_process ? kMissing : thread, is_process};
}

// A range that belongs to a process, or ends on another thread than it began, is not push/pop.
TrackId NvprofMarkers::TrackOf(const Range& range) {
  const Owner& owner = range.start.owner;
  const bool is_async = owner.is_process || (range.end_ns != kMissing && owner != range.end_owner);
  return is_async ? trace_.AsyncThread(owner.process, owner.thread)
                  : trace_.Thread(owner.process, owner.thread);
}

void NvprofMarkers::AddRange(const Range& range) {
  const Start& start = range.start;
  ActivityTime time;
  if (!trace_.Time(start.ts_ns, range.end_ns, time)) {
    return;
  }
  TracePart& part = trace_.part();
  const StringId name = strings_.Find(start.name);
  if (!name.valid()) {
    trace_.diagnostics().Count(Diag::kMissingName, Diagnostics::kNoByte, "a marker");
  }
  std::string text(part.data.strings.Get(name));
  const TrackId track = TrackOf(range);
  if (const std::optional<OperatorText> op = ParseOperatorText(text)) {
    trace_.AddHost(time, HostKind::kOp, part.Intern(op->name), track, AddOperator(part, *op));
    return;
  }
  const StringId domain = start.domain == 0 ? StringId{} : strings_.Find(start.domain);
  const bool has_domain = !part.data.strings.Get(domain).empty();
  if (has_domain) {
    text.insert(0, std::string(part.data.strings.Get(domain)) + ":");
  }
  const StringId full_name = part.Intern(text);
  if (has_domain) {
    trace_.AddDomainOf(full_name, domain);
  }
  trace_.AddHost(time, HostKind::kAnnotation, full_name, track);
}

// Ranges cut by the recording: without an end, or without a start.
void NvprofMarkers::AddOpenRanges() {
  std::vector<Range> open;
  open.reserve(open_.size());
  for (const auto& [number, range] : open_.InAnyOrder()) {  // put in order below
    open.push_back(range);
  }
  std::sort(open.begin(), open.end(), [](const Range& a, const Range& b) {
    return std::tie(a.start.ts_ns, a.start.name, a.start.domain, a.start.owner, a.end_ns,
                    a.end_owner) < std::tie(b.start.ts_ns, b.start.name, b.start.domain,
                                            b.start.owner, b.end_ns, b.end_owner);
  });
  for (const Range& range : open) {
    AddRange(range);
  }
}

namespace {

constexpr std::string_view kActivity = "CUPTI_ACTIVITY_KIND_";
constexpr std::string_view kDeviceTable = "CUPTI_ACTIVITY_KIND_DEVICE";

struct CallTable {
  std::string_view table;
  std::string (*name)(int64_t callback);
};
constexpr CallTable kCallTables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", RuntimeApiName},
    {"CUPTI_ACTIVITY_KIND_DRIVER", DriverApiName},
};

// Kernels that may overlap, and those of a run that serialised them.
constexpr std::string_view kKernelTables[] = {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
                                              "CUPTI_ACTIVITY_KIND_KERNEL"};

struct WorkTable {
  std::string_view table;
  std::span<const std::string_view> columns;
  void (CuptiTrace::*add)(TableRows& row);
};
constexpr WorkTable kWorkTables[] = {
    {"CUPTI_ACTIVITY_KIND_MEMCPY", CuptiTrace::kCopyColumns, &CuptiTrace::AddCopy},
    {"CUPTI_ACTIVITY_KIND_MEMCPY2", CuptiTrace::kCopyColumns, &CuptiTrace::AddCopy},
    {"CUPTI_ACTIVITY_KIND_MEMSET", CuptiTrace::kMemsetColumns, &CuptiTrace::AddMemset},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", CuptiTrace::kSyncColumns, &CuptiTrace::AddSync},
};

class NvprofReader {
 public:
  explicit NvprofReader(const DatabaseInput& input)
      : input_(input), trace_(MemoryKindNumbers::kCupti), progress_(input, kTables) {
    trace_.CorrelateByProcess(false);  // device rows do not name their process
  }

  Result<void> Read();
  // REQUIRES: Read was called.
  Result<void> ReadDevices(Meta& meta);
  CuptiTrace& trace() { return trace_; }

 private:
  Result<void> ReadCalls(const CallTable& table);
  Result<void> ReadKernels(std::string_view table);
  StringId KernelName(int64_t number);
  Result<void> ReadWork(const WorkTable& work);
  Result<void> CountRest();

  // Texts and markers in addition.
  static constexpr size_t kTables =
      2 + std::size(kCallTables) + std::size(kKernelTables) + std::size(kWorkTables);

  const DatabaseInput& input_;
  CuptiTrace trace_;
  TableProgress progress_;
  TextTable strings_;
  Demangler demangle_;
  std::vector<StringId> kernel_names_;  // by the recorded one
};

Result<void> NvprofReader::Read() {
  BS_TRY(
      strings_.Read(input_.database, input_.schema, "StringTable", "_id_", "value", trace_.part()));
  strings_.Finish(trace_.diagnostics());
  progress_.Done();
  for (const CallTable& table : kCallTables) {
    BS_TRY(ReadCalls(table));
    progress_.Done();
  }
  NvprofMarkers markers(strings_, trace_);
  BS_TRY(markers.Read(input_));
  progress_.Done();
  for (const std::string_view table : kKernelTables) {
    BS_TRY(ReadKernels(table));
    progress_.Done();
  }
  for (const WorkTable& work : kWorkTables) {
    BS_TRY(ReadWork(work));
    progress_.Done();
  }
  return CountRest();
}

Result<void> NvprofReader::ReadCalls(const CallTable& table) {
  enum Column : uint8_t { kStart, kEnd, kProcess, kThread, kCorrelation, kCallback };
  constexpr std::string_view kColumns[] = {"start",    "end",           "processId",
                                           "threadId", "correlationId", "cbid"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input_, table.table, kColumns, trace_.diagnostics()));
  trace_.BeginTable(table.table);
  ActivityTime time;
  return rows.ForEach([&] {
    if (!trace_.Time(rows.Integer(kStart), rows.Integer(kEnd), time)) {
      return;
    }
    // Stored with a sign; markers identify the same thread by its lower 32 bits.
    const int64_t thread = rows.Integer(kThread);
    const TrackId track =
        trace_.Thread(rows.Integer(kProcess), thread == kMissing ? kMissing : thread & 0xffffffff);
    trace_.AddCall(time, trace_.part().Intern(table.name(rows.Integer(kCallback))), track,
                   trace_.Correlation(rows.Integer(kCorrelation), kMissing));
  });
}

StringId NvprofReader::KernelName(int64_t number) {
  const StringId id = strings_.Find(number);
  if (!id.valid()) {
    trace_.diagnostics().Count(Diag::kMissingName, Diagnostics::kNoByte, "a kernel");
    return StringId{0};
  }
  if (kernel_names_.size() <= id.value) {
    kernel_names_.resize(id.value + 1);
  }
  StringId& name = kernel_names_[id.value];
  if (!name.valid()) {
    name = trace_.part().Intern(demangle_(trace_.part().data.strings.Get(id)));
  }
  return name;
}

Result<void> NvprofReader::ReadKernels(std::string_view table) {
  constexpr std::string_view kColumns[] = {BS_KERNEL_COLUMNS, "name"};
  BS_ASSIGN(TableRows rows, TableRows::Open(input_, table, kColumns, trace_.diagnostics()));
  trace_.BeginTable(table);
  return rows.ForEach([&] { trace_.AddKernel(rows, KernelName(rows.Integer(kKernelColumns))); });
}

Result<void> NvprofReader::ReadWork(const WorkTable& work) {
  BS_ASSIGN(TableRows rows,
            TableRows::Open(input_, work.table, work.columns, trace_.diagnostics()));
  trace_.BeginTable(work.table);
  return rows.ForEach([&] { (trace_.*work.add)(rows); });
}

Result<void> NvprofReader::CountRest() {
  std::vector<std::string_view> known{"CUPTI_ACTIVITY_KIND_MARKER"};
  known.insert(known.end(), std::begin(kKernelTables), std::end(kKernelTables));
  for (const CallTable& table : kCallTables) {
    known.push_back(table.table);
  }
  for (const WorkTable& work : kWorkTables) {
    known.push_back(work.table);
  }
  return CountOtherTables(input_, known, trace_.part());
}

Result<void> NvprofReader::ReadDevices(Meta& meta) {
  enum Column : uint8_t { kId, kName, kMemory, kProcessors, kMajor, kMinor, kWarps, kWarpSize };
  constexpr std::string_view kColumns[] = {"id",
                                           "name",
                                           "globalMemorySize",
                                           "numMultiprocessors",
                                           "computeCapabilityMajor",
                                           "computeCapabilityMinor",
                                           "maxWarpsPerMultiprocessor",
                                           "numThreadsPerWarp"};
  constexpr int64_t kMost = 1 << 16;
  constexpr size_t kMostDevices = 1024;
  BS_ASSIGN(TableRows row, TableRows::Open(input_, kDeviceTable, kColumns, trace_.diagnostics()));
  while (true) {
    BS_ASSIGN(const bool is_row, row.Next());
    if (!is_row || meta.devices.size() == kMostDevices) {
      return {};
    }
    DeviceInfo& device = meta.devices.emplace_back();
    device.id = row.Integer(kId);
    device.name = trace_.part().data.strings.Get(strings_.Find(row.Integer(kName)));
    device.total_bytes = row.Integer(kMemory);
    device.multiprocessors = row.Integer(kProcessors);
    device.compute_major = row.Integer(kMajor);
    device.compute_minor = row.Integer(kMinor);
    device.warp_size = row.Integer(kWarpSize);
    const int64_t warps = row.Integer(kWarps);
    if (warps > 0 && warps < kMost && device.warp_size > 0 && device.warp_size < kMost) {
      device.max_threads_per_multiprocessor = warps * device.warp_size;
    }
  }
}

}  // namespace

bool IsNvprof(const DatabaseSchema& schema) {
  return schema.Has("StringTable") &&
         std::any_of(schema.tables().begin(), schema.tables().end(),
                     [](const auto& table) { return table.first.starts_with(kActivity); });
}

Result<Trace> LoadNvprof(DatabaseInput input) {
  input.meta.vendor = Vendor::kNvidia;
  input.meta.producer = "nvprof";
  NvprofReader reader(input);
  BS_TRY(reader.Read());
  BS_TRY(reader.ReadDevices(input.meta));
  TraceBuilder builder;
  builder.Append(std::move(reader.trace().part()));
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

std::string_view NvprofRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
      return "leave out --profile-api-trace none";
    case MissingData::kDeviceWork:
      return "profile a part of the run in which the device works";
    case MissingData::kLaunches:
      return "leave out --profile-api-trace none";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx()";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\"), which nvprof records";
    default:
      return CommonRemedy(lack);
  }
}

}  // namespace borescope::internal
