#include "borescope/convert/rpd/rpd_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/index/names/kernel_class.h"
#include "borescope/rpd/marker_text.h"
#include "borescope/rpd/rpd_schema.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {
namespace {

constexpr int64_t kSession = int64_t{1} << 32;
constexpr int64_t kLastCorrelation = int64_t{1}
                                     << 31;  // larger ids of a session are those of markers

constexpr int64_t kNoApi = 0;
constexpr std::string_view kMarker = "UserMarker";

int64_t OrZero(int64_t value) { return value == kMissing ? 0 : value; }
int64_t OrZero(int32_t value) { return std::max<int32_t>(value, 0); }

// ---- Names ----

// AMD's runtimes name operations by one identifier, which is also their type.
bool IsOpType(DeviceKind kind, std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (kind == DeviceKind::kKernel) {
    return name == "KernelExecution" || name == "Task";
  }
  return !name.empty() && std::all_of(name.begin(), name.end(), is_part);
}

std::string_view OpType(DeviceKind kind, std::string_view name) {
  if (kind == DeviceKind::kKernel) {
    return "KernelExecution";
  }
  switch (ClassifyCopy(kind, name)) {
    case CopyKind::kHostToDevice:
      return "CopyHostToDevice";
    case CopyKind::kDeviceToHost:
      return "CopyDeviceToHost";
    case CopyKind::kDeviceToDevice:
    case CopyKind::kPeerToPeer:
      return "CopyDeviceToDevice";
    case CopyKind::kHostToHost:
      return "CopyHostToHost";
    case CopyKind::kMemset:
      return "FillBuffer";
    case CopyKind::kOther:
    case CopyKind::kCount:
      break;
  }
  return "Memcpy";
}

// hipMemcpyKind, which is cudaMemcpyKind.
int64_t RuntimeCopyKind(DeviceKind kind, std::string_view name) {
  constexpr int64_t kDefault = 4;
  switch (ClassifyCopy(kind, name)) {
    case CopyKind::kHostToHost:
      return 0;
    case CopyKind::kHostToDevice:
      return 1;
    case CopyKind::kDeviceToHost:
      return 2;
    case CopyKind::kDeviceToDevice:
    case CopyKind::kPeerToPeer:
      return 3;
    default:
      return kDefault;
  }
}

std::string_view DomainOf(std::string_view api) {
  if (api.starts_with("hip")) {
    return "hip";
  }
  return api.starts_with("cu") ? "cuda" : "";
}

// ---- Rows ----

struct Inserters {
  RowInserter api, op, api_ops, kernelapi, copyapi, monitor;

  // Writes the pending rows.
  Result<void> Flush() {
    for (RowInserter* table : {&api, &op, &api_ops, &kernelapi, &copyapi, &monitor}) {
      BS_TRY(table->Flush());
    }
    return {};
  }
};

Result<Inserters> MakeInserters(const SqlDatabase& database) {
  Inserters all;
  BS_ASSIGN(all.api, RowInserter::Into(database, "rocpd_api", 9));
  BS_ASSIGN(all.op, RowInserter::Into(database, "rocpd_op", 8));
  BS_ASSIGN(all.api_ops, RowInserter::Into(database, "rocpd_api_ops", 3));
  BS_ASSIGN(all.kernelapi, RowInserter::Into(database, "rocpd_kernelapi", 11));
  BS_ASSIGN(all.copyapi, RowInserter::Into(database, "rocpd_copyapi", 12));
  BS_ASSIGN(all.monitor, RowInserter::Into(database, "rocpd_monitor", 7));
  return all;
}

// The correlation of the call at a host row, if it can be the id of an api row.
int64_t UsableCorrelation(const Trace& trace, uint32_t row) {
  const HostEvents& host = trace.host();
  if (host.kind[row] != HostKind::kRuntime || host.detail[row] == kNoDetail) {
    return kNoApi;
  }
  const int64_t correlation = trace.runtime_calls().correlation[host.detail[row]];
  const bool is_usable = correlation > 0 && correlation % kSession <= kLastCorrelation;
  return is_usable ? correlation : kNoApi;
}

// By host row: the id of its api row in the session that begins at `first_id`. Calls have their
// correlation if it is unique, other rows the numbers of markers.
std::vector<int64_t> ApiIds(const Trace& trace, int64_t first_id) {
  const auto rows = static_cast<uint32_t>(trace.host().size());
  std::vector<std::pair<int64_t, uint32_t>> calls;
  for (const uint32_t row : EachRow(rows)) {
    if (const int64_t correlation = UsableCorrelation(trace, row); correlation != kNoApi) {
      calls.emplace_back(correlation, row);
    }
  }
  std::sort(calls.begin(), calls.end());
  std::vector<int64_t> ids(rows, kNoApi);
  for (const size_t i : EachIndex(calls.size())) {
    if (i == 0 || calls[i].first != calls[i - 1].first) {
      ids[calls[i].second] = calls[i].first;
    }
  }
  int64_t next = first_id + kLastCorrelation;
  for (int64_t& id : ids) {
    id = id == kNoApi ? ++next : id;
  }
  return ids;
}

// The parts of a file that its traces share.
struct RpdFile {
  SqlDatabase database;
  Inserters insert;
  RpdStrings strings;
  RpdStrings ustrings;
};

// Writes one trace.
class RpdRows {
 public:
  RpdRows(const ConvertInput& input, RpdFile& file)
      : input_(input),
        trace_(input.trace),
        insert_(file.insert),
        strings_(file.strings),
        ustrings_(file.ustrings),
        api_ids_(ApiIds(input.trace, input.source.first_id)),
        has_details_(input.trace.host().size(), 0) {
    strings_.Use(input.trace.strings());
    ustrings_.Use(input.trace.strings());
  }

  Result<ConvertCounts> Write() {
    BS_TRY(WriteApis());
    BS_TRY(WriteOps());
    BS_TRY(WriteMonitors());
    return counts_;
  }

 private:
  Result<void> WriteApis();
  Result<void> WriteOps();
  Result<void> WriteMonitors();

  struct ApiTexts {
    int64_t name, category, domain, args;
  };
  ApiTexts TextsOf(uint32_t row);
  ApiTexts OpTexts(uint32_t row);
  ApiTexts AnnotationTexts(StringId name);
  ApiTexts CallTexts(uint32_t row);

  Result<void> WriteOp(uint32_t row);
  Result<void> WriteLink(uint32_t row, int64_t op);
  Result<void> WriteKernelApi(uint32_t row, int64_t api);
  Result<void> WriteCopyApi(uint32_t row, int64_t api);
  std::string StreamText(StringId handle, uint32_t row) const {
    const std::string_view known = trace_.Text(handle);
    return known.empty() ? fmt::format("{}", trace_.StreamOf(DeviceId{row})) : std::string(known);
  }

  const ConvertInput& input_;
  const Trace& trace_;
  Inserters& insert_;
  RpdStrings& strings_;
  RpdStrings& ustrings_;
  std::vector<int64_t> api_ids_;
  std::vector<char> has_details_;  // by host row: whether it has a kernelapi or copyapi row
  ConvertCounts counts_;
};

RpdRows::ApiTexts RpdRows::CallTexts(uint32_t row) {
  const HostEvents& host = trace_.host();
  const std::string_view name = trace_.Text(host.name[row]);
  // Calls need no category if their ids are in the range of calls.
  const bool is_call = host.kind[row] == HostKind::kRuntime && !IsMarkerId(api_ids_[row]);
  const int64_t category = strings_.Id(is_call ? std::string() : TextOf({host.kind[row]}));
  ApiTexts texts{strings_.Id(host.name[row]), category, 0, ustrings_.Id("")};
  std::string_view domain;
  if (host.detail[row] != kNoDetail) {
    const RuntimeCalls& calls = trace_.runtime_calls();
    domain = trace_.Text(calls.domain[host.detail[row]]);
    texts.args = ustrings_.Id(calls.args[host.detail[row]]);
  }
  texts.domain = strings_.Id(domain.empty() ? DomainOf(name) : domain);
  return texts;
}

// The text of PyTorch's observer, in the arguments of a marker. A name that would be read as
// details is the name of the row instead, as for a range that the tracer's own calls push.
RpdRows::ApiTexts RpdRows::OpTexts(uint32_t row) {
  const StringId name = trace_.host().name[row];
  const uint32_t detail = trace_.host().detail[row];
  RpdCategory category{HostKind::kOp};
  MarkerText marker;
  if (detail != kNoDetail) {
    const Ops& ops = trace_.ops();
    category.forward_thread = ops.forward_thread[detail];
    marker.sequence = ops.sequence[detail];
    marker.record_function_id = ops.record_function_id[detail];
    marker.sizes = trace_.Text(ops.input_dims[detail]);
  }
  ApiTexts texts{strings_.Id(kMarker), strings_.Id(TextOf(category)), strings_.Id(kMarker), 0};
  std::string text = MarkerDetails(marker);
  if (NeedsOwnPlace(trace_.Text(name))) {
    texts.name = strings_.Id(name);
  } else if (text.empty()) {
    texts.args = ustrings_.Id(name);
    return texts;
  } else {
    text.insert(0, trace_.Text(name));
  }
  const bool is_rare = IsOfOneCall(marker) && text.size() <= kLongText;
  texts.args = is_rare ? ustrings_.Add(text) : ustrings_.Id(text);
  return texts;
}

// The same if a name would be read as that of an operator, or is long.
RpdRows::ApiTexts RpdRows::AnnotationTexts(StringId name) {
  const int64_t category = strings_.Id(TextOf({HostKind::kAnnotation}));
  const int64_t domain = strings_.Id(kMarker);
  const std::string_view text = trace_.Text(name);
  return NeedsOwnPlace(text) || ParseMarker(text).is_operator
             ? ApiTexts{strings_.Id(name), category, domain, ustrings_.Id("")}
             : ApiTexts{domain, category, domain, ustrings_.Id(name)};
}

RpdRows::ApiTexts RpdRows::TextsOf(uint32_t row) {
  const StringId name = trace_.host().name[row];
  switch (trace_.host().kind[row]) {
    case HostKind::kAnnotation:
      return AnnotationTexts(name);
    case HostKind::kOp:
      return OpTexts(row);
    case HostKind::kPython:
      return {strings_.Id(name), strings_.Id(TextOf({HostKind::kPython})), strings_.Id("python"),
              ustrings_.Id("")};
    case HostKind::kRuntime:
    case HostKind::kOther:
      break;
  }
  return CallTexts(row);
}

Result<void> RpdRows::WriteApis() {
  const HostEvents& host = trace_.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (!counts_.Keep(input_.Keeps(HostId{row}))) {
      continue;
    }
    const uint32_t track = host.track[row].value;
    const ApiTexts texts = TextsOf(row);
    BS_TRY(insert_.api.Add(api_ids_[row], trace_.tracks().pid[track], trace_.tracks().tid[track],
                           host.ts_ns[row], host.end_ns(HostId{row}), texts.name, texts.category,
                           texts.domain, texts.args));
  }
  return {};
}

Result<void> RpdRows::WriteOps() {
  const DeviceEvents& device = trace_.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (!input_.Keeps(DeviceId{row})) {
      counts_.outside += 1;
    } else if (!IsDeviceWork(device.kind[row])) {
      counts_.unplaced += 1;
    } else {
      counts_.written += 1;
      BS_TRY(WriteOp(row));
    }
  }
  const MemoryEvents& memory = trace_.memory();
  for (const int64_t ts_ns : memory.ts_ns) {
    const bool is_inside = input_.window.Holds(ts_ns == kMissing ? trace_.begin_ns() : ts_ns);
    (is_inside ? counts_.unplaced : counts_.outside) += 1;
  }
  return {};
}

Result<void> RpdRows::WriteOp(uint32_t row) {
  const DeviceEvents& device = trace_.device();
  const std::string_view name = trace_.Name(DeviceId{row});
  const bool is_type = IsOpType(device.kind[row], name);
  const int64_t description = strings_.Id(is_type ? StringId{0} : device.name[row]);
  const int64_t type = strings_.Id(is_type ? name : OpType(device.kind[row], name));
  const int64_t op = input_.source.first_id + static_cast<int64_t>(row) + 1;
  BS_TRY(insert_.op.Add(op, trace_.DeviceOf(DeviceId{row}), trace_.StreamOf(DeviceId{row}),
                        int64_t{0}, device.ts_ns[row], device.end_ns(DeviceId{row}), description,
                        type));
  return WriteLink(row, op);
}

// Details of the call are written once, with its first op.
Result<void> RpdRows::WriteLink(uint32_t row, int64_t op) {
  const HostId launch = input_.index.correlation.launch_of[row];
  if (!launch.valid() || !input_.Keeps(launch)) {
    return {};
  }
  const int64_t api = api_ids_[launch.value];
  BS_TRY(insert_.api_ops.Add(nullptr, api, op));
  const DeviceKind kind = trace_.device().kind[row];
  if (kind == DeviceKind::kMemset || std::exchange(has_details_[launch.value], 1) != 0) {
    return {};  // calls that fill memory have no details in this format
  }
  return kind == DeviceKind::kKernel ? WriteKernelApi(row, api) : WriteCopyApi(row, api);
}

Result<void> RpdRows::WriteKernelApi(uint32_t row, int64_t api) {
  const uint32_t detail = trace_.device().detail[row];
  const int64_t name = strings_.Id(trace_.device().name[row]);
  constexpr int64_t kUnknown = 0;
  if (detail == kNoDetail) {
    return insert_.kernelapi.Add(api, StreamText({}, row), kUnknown, kUnknown, kUnknown, kUnknown,
                                 kUnknown, kUnknown, kUnknown, kUnknown, name);
  }
  const Kernels& k = trace_.kernels();
  return insert_.kernelapi.Add(
      api, StreamText(k.stream_handle[detail], row), OrZero(k.grid_x[detail]),
      OrZero(k.grid_y[detail]), OrZero(k.grid_z[detail]), OrZero(k.block_x[detail]),
      OrZero(k.block_y[detail]), OrZero(k.block_z[detail]), OrZero(k.shared_bytes[detail]),
      OrZero(k.private_bytes[detail]), name);
}

Result<void> RpdRows::WriteCopyApi(uint32_t row, int64_t api) {
  const DeviceEvents& device = trace_.device();
  const Copies& copies = trace_.copies();
  const uint32_t detail = device.detail[row];
  const int64_t bytes = detail == kNoDetail ? 0 : OrZero(copies.bytes[detail]);
  const int64_t kind = RuntimeCopyKind(device.kind[row], trace_.Name(DeviceId{row}));
  const uint32_t call = detail == kNoDetail ? kNoDetail : copies.call[detail];
  constexpr int64_t kUnknown = 0;
  if (call == kNoDetail) {
    return insert_.copyapi.Add(api, StreamText({}, row), bytes, kUnknown, kUnknown, kind,
                               std::string_view(), std::string_view(), kUnknown, kUnknown, kUnknown,
                               kUnknown);
  }
  const CopyCalls& c = trace_.copy_calls();
  return insert_.copyapi.Add(
      api, StreamText(c.stream_handle[call], row), bytes, OrZero(c.width[call]),
      OrZero(c.height[call]), c.kind[call] == kMissing ? kind : c.kind[call],
      trace_.Text(c.target[call]), trace_.Text(c.source[call]), OrZero(c.target_device[call]),
      OrZero(c.source_device[call]), OrZero(c.is_sync[call]), OrZero(c.is_pinned[call]));
}

Result<void> RpdRows::WriteMonitors() {
  constexpr int64_t kNoDevice = -1;  // 0 is the first
  const Samples& samples = trace_.samples();
  for (const size_t row : EachIndex(samples.size())) {
    if (counts_.Keep(input_.window.Holds(samples.ts_ns[row]))) {
      BS_TRY(insert_.monitor.Add(nullptr, trace_.Text(samples.device_type[row]),
                                 samples.device[row] == kMissing ? kNoDevice : samples.device[row],
                                 trace_.Text(samples.name[row]), samples.ts_ns[row],
                                 samples.end_ns[row], fmt::format("{}", samples.value[row])));
    }
  }
  return {};
}

// ---- The file ----

class RpdWriter : public ConvertWriter {
 public:
  static Result<std::unique_ptr<RpdWriter>> Open(const std::string& path) {
    std::unique_ptr<RpdWriter> writer(new RpdWriter);
    RpdFile& file = writer->file_;
    BS_ASSIGN(file.database, SqlDatabase::Create(path));
    BS_TRY(file.database.Run("BEGIN"));
    BS_TRY(file.database.Run(std::string(kRpdTables)));
    BS_TRY(file.database.Run(std::string(kRpdViews)));
    BS_ASSIGN(file.insert, MakeInserters(file.database));
    BS_ASSIGN(file.strings, RpdStrings::Into(file.database, "rocpd_string"));
    BS_ASSIGN(file.ustrings, RpdStrings::Into(file.database, "rocpd_ustring"));
    return writer;
  }

  Result<ConvertCounts> Add(const ConvertInput& input) override {
    if (!input.source.name.empty()) {
      BS_TRY(WriteSource(input));
    }
    if (input.cut.has_value()) {
      JoinCut(*input.cut, cut_);
    }
    return RpdRows(input, file_).Write();
  }

  Result<void> Finish() override {
    if (cut_.has_value()) {
      BS_TRY(WriteMetadata(std::string(kCutTag), TextOfCut(*cut_)));
    }
    BS_TRY(file_.insert.Flush());
    BS_TRY(file_.strings.Flush());
    BS_TRY(file_.ustrings.Flush());
    BS_TRY(file_.database.Run(std::string(kRpdIndexes)));
    return file_.database.Run("COMMIT");
  }

 private:
  RpdWriter() = default;

  Result<void> WriteMetadata(const std::string& tag, const std::string& value) {
    BS_ASSIGN(SqlStatement insert,
              file_.database.Prepare("INSERT INTO rocpd_metadata (tag, value) VALUES (?, ?)"));
    insert.Bind(1, tag);
    insert.Bind(2, value);
    return insert.Run();
  }

  // Writes which numbers belong to one of several traces. Each is a session of its own.
  Result<void> WriteSource(const ConvertInput& input) {
    const MergeSource& source = input.source;
    BS_TRY(WriteMetadata(fmt::format("source::{}", source.number),
                         fmt::format("file={} | name={} | node={} | session={} | shift_ns={}",
                                     input.trace.meta().file, source.name, source.node,
                                     source.first_id / kSession, source.shift_ns)));
    return file_.database.Run(
        fmt::format("UPDATE rocpd_metadata SET value = '{}' WHERE tag = 'session_count'",
                    source.end_id / kSession));
  }

  RpdFile file_;
  std::optional<RecordedCut> cut_;  // of all traces together
};

}  // namespace

Result<std::unique_ptr<ConvertWriter>> OpenRpd(const std::string& path) {
  BS_ASSIGN(std::unique_ptr<ConvertWriter> writer, RpdWriter::Open(path));
  return writer;
}

Result<ConvertCounts> WriteRpd(const ConvertInput& input, const std::string& path) {
  BS_ASSIGN(const std::unique_ptr<ConvertWriter> writer, OpenRpd(path));
  return WriteAlone(*writer, input);
}

}  // namespace borescope::internal
