#include "borescope/ingest/rpd/rpd.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/sort_runs.h"
#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/rpd/rpd_tables.h"
#include "borescope/rpd/marker_text.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/recorded_cut.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

bool IsMarkerName(std::string_view api_name) { return api_name == "UserMarker"; }

bool IsTracerName(std::string_view api_name) {
  constexpr std::string_view kNames[] = {"hcc_activity_callback", "rpdflush", "BLOCKING"};
  return std::find(std::begin(kNames), std::end(kNames), api_name) != std::end(kNames) ||
         api_name.ends_with("::writeRows") || api_name.ends_with("::buffer_callback");
}

namespace {

struct CallRow {
  enum Column : uint8_t { kId, kPid, kTid, kStart, kEnd, kName, kCategory, kDomain, kArguments };
  static constexpr std::string_view kColumns[] = {
      "id", "pid", "tid", "start", "end", "apiName_id", "category_id", "domain_id", "args_id"};
};

// Classification of a row by its name.
enum class NameKind : uint8_t { kUnknown, kCall, kMarker, kTracer };

class CallReader {
 public:
  explicit CallReader(RpdTables& tables)
      : tables_(tables),
        category_call_(tables.part.Intern("api")),
        category_marker_(tables.part.Intern("marker")),
        category_tracer_(tables.part.Intern("tracer")) {}

  Result<void> Read();

 private:
  void Add(const TableRows& rows);
  NameKind KindOf(StringId name);
  std::optional<RpdCategory> CategoryOf(int64_t id);
  void AddOfCategory(const RpdCategory& category, const TableRows& rows, int64_t id, StringId name);
  void AddOperator(const TableRows& rows, StringId name, int64_t forward_thread);
  void AddCall(const TableRows& rows, int64_t id, StringId name);
  void AddTracerWork(const TableRows& rows, StringId name);
  void AddRange(const TableRows& rows, StringId name, bool is_marker);
  // A marker's text, its parts as texts of the trace.
  struct Marker {
    StringId name, sizes;
    bool is_operator = false;
    int64_t sequence = kMissing;
    int64_t record_function_id = kMissing;
  };
  Marker InTrace(const MarkerText& marker);
  Marker MarkerOf(const TableRows& rows);
  uint32_t AddOpDetail(const Marker& marker, int64_t forward_thread);
  void PushHost(HostKind kind, StringId name, uint32_t detail, StringId category);
  uint32_t AddRuntimeCall(const TableRows& rows, int64_t correlation);

  RpdTables& tables_;
  StringId category_call_, category_marker_, category_tracer_;
  std::vector<NameKind> kind_of_name_;                        // by StringId
  HashMap<uint32_t, std::optional<RpdCategory>> categories_;  // likewise
  HashMap<int64_t, Marker> long_markers_;                     // by the id of their text: read once
  RowTime time_;                                              // of the current row
  TrackId track_;
};

NameKind CallReader::KindOf(StringId name) {
  if (name.value >= kind_of_name_.size()) {
    kind_of_name_.resize(name.value + 1, NameKind::kUnknown);
  }
  NameKind& kind = kind_of_name_[name.value];
  if (kind == NameKind::kUnknown) {
    const std::string_view text = tables_.part.data.strings.Get(name);
    kind = IsMarkerName(text)   ? NameKind::kMarker
           : IsTracerName(text) ? NameKind::kTracer
                                : NameKind::kCall;
    tables_.saw_cuda |= kind == NameKind::kCall && text.starts_with("cu");
  }
  return kind;
}

// Nothing in files of the tracer, whose categories are empty.
std::optional<RpdCategory> CallReader::CategoryOf(int64_t id) {
  const StringId text = tables_.strings.Find(id);
  if (!text.valid()) {
    return std::nullopt;
  }
  const auto [found, is_new] = categories_.try_emplace(text.value);
  if (is_new) {
    found->second = ParseRpdCategory(tables_.part.data.strings.Get(text));
  }
  return found->second;
}

void CallReader::PushHost(HostKind kind, StringId name, uint32_t detail, StringId category) {
  AddHostRow(tables_.part.data.host, {time_.ts_ns, time_.dur_ns, name, track_, kind, detail});
  tables_.part.CountEvent('X', category, time_.dur_ns);
}

uint32_t CallReader::AddRuntimeCall(const TableRows& rows, int64_t correlation) {
  RuntimeCalls& calls = tables_.part.data.runtime_calls;
  calls.correlation.push_back(correlation);
  calls.external_id.push_back(kMissing);
  calls.domain.push_back(tables_.String(rows.Integer(CallRow::kDomain)));
  calls.args.push_back(tables_.ArgumentsOfTrace(rows.Integer(CallRow::kArguments)));
  calls.kernel.push_back(StringId{0});
  return static_cast<uint32_t>(calls.size() - 1);
}

void CallReader::AddCall(const TableRows& rows, int64_t id, StringId name) {
  PushHost(HostKind::kRuntime, name, AddRuntimeCall(rows, id), category_call_);
}

void CallReader::AddTracerWork(const TableRows& rows, StringId name) {
  PushHost(HostKind::kOther, name, AddRuntimeCall(rows, kMissing), category_tracer_);
}

CallReader::Marker CallReader::InTrace(const MarkerText& marker) {
  TracePart& part = tables_.part;
  return {part.Intern(marker.name), part.Intern(marker.sizes), marker.is_operator, marker.sequence,
          marker.record_function_id};
}

CallReader::Marker CallReader::MarkerOf(const TableRows& rows) {
  const int64_t id = rows.Integer(CallRow::kArguments);
  const std::string_view text = tables_.Arguments(id);
  if (text.size() <= kLongText) {
    return InTrace(ParseMarker(text));
  }
  const auto [found, is_new] = long_markers_.try_emplace(id);
  if (is_new) {
    found->second = InTrace(ParseMarker(text));
  }
  return found->second;
}

uint32_t CallReader::AddOpDetail(const Marker& marker, int64_t forward_thread) {
  if (marker.sequence == kMissing && marker.record_function_id == kMissing &&
      marker.sizes == StringId{0} && forward_thread == kMissing) {
    return kNoDetail;
  }
  Ops& ops = tables_.part.data.ops;
  const uint32_t row = AddMissingRow(ops);
  ops.sequence[row] = marker.sequence;
  ops.record_function_id[row] = marker.record_function_id;
  ops.forward_thread[row] = forward_thread;
  ops.input_dims[row] = marker.sizes;
  return row;
}

// A marker has its text in its arguments; a range with a name of its own uses that, which is never
// an operator.
void CallReader::AddRange(const TableRows& rows, StringId name, bool is_marker) {
  if (!is_marker) {
    PushHost(HostKind::kAnnotation, name, kNoDetail, category_marker_);
    return;
  }
  const Marker marker = MarkerOf(rows);
  const uint32_t detail = AddOpDetail(marker, kMissing);
  PushHost(marker.is_operator ? HostKind::kOp : HostKind::kAnnotation, marker.name, detail,
           category_marker_);
}

// A name that looks like a text with details is not in the text, but that of the row.
void CallReader::AddOperator(const TableRows& rows, StringId name, int64_t forward_thread) {
  const Marker marker = MarkerOf(rows);
  const uint32_t detail = AddOpDetail(marker, forward_thread);
  const bool is_in_text = KindOf(name) == NameKind::kMarker;
  PushHost(HostKind::kOp, is_in_text ? marker.name : name, detail, category_marker_);
}

void CallReader::AddOfCategory(const RpdCategory& category, const TableRows& rows, int64_t id,
                               StringId name) {
  switch (category.kind) {
    case HostKind::kOp:
      return AddOperator(rows, name, category.forward_thread);
    case HostKind::kAnnotation: {
      const bool is_in_text = KindOf(name) == NameKind::kMarker;
      const StringId own =
          is_in_text ? tables_.ArgumentsOfTrace(rows.Integer(CallRow::kArguments)) : name;
      return PushHost(HostKind::kAnnotation, own, kNoDetail, category_marker_);
    }
    case HostKind::kPython:
      return PushHost(HostKind::kPython, name, kNoDetail, category_marker_);
    case HostKind::kRuntime:
      KindOf(name);  // a call may tell the vendor
      return AddCall(rows, id, name);
    case HostKind::kOther:
      return AddTracerWork(rows, name);
  }
}

void CallReader::Add(const TableRows& rows) {
  const int64_t id = rows.Integer(CallRow::kId);
  const StringId name = tables_.String(rows.Integer(CallRow::kName));
  const std::string_view text = tables_.part.data.strings.Get(name);
  time_ = rows.Time(CallRow::kStart, CallRow::kEnd, text);
  if (text.empty()) {
    tables_.diagnostics().Count(Diag::kMissingName);
    // A range that was open when recording began: it has an end, but no known begin.
    if (time_.ts_ns == 0 && IsMarkerId(id)) {
      tables_.diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte,
                                  "a range that began before the recording");
      time_.has_start = false;
    }
  }
  if (!time_.has_start) {
    return;
  }
  tables_.calls.Add(id);
  track_ = tables_.part.Track(TrackKind::kHost, rows.Integer(CallRow::kPid, -1),
                              rows.Integer(CallRow::kTid, -1));
  if (const std::optional<RpdCategory> category = CategoryOf(rows.Integer(CallRow::kCategory))) {
    AddOfCategory(*category, rows, id, name);
    return;
  }
  const NameKind kind = KindOf(name);
  if (kind == NameKind::kMarker) {
    AddRange(rows, name, true);
  } else if (!IsMarkerId(id)) {
    AddCall(rows, id, name);
  } else if (kind == NameKind::kTracer) {
    AddTracerWork(rows, name);
  } else {
    AddRange(rows, name, false);
  }
}

Result<void> CallReader::Read() {
  BS_ASSIGN(TableRows rows, tables_.Open("rocpd_api", CallRow::kColumns));
  BS_TRY(rows.ForEach([&] { Add(rows); }));
  tables_.diagnostics().CountMany(Diag::kDuplicateKey, tables_.calls.Finish(), Diagnostics::kNoByte,
                                  "rocpd_api.id");
  return {};
}

}  // namespace

Result<void> ReadRpdCalls(RpdTables& tables) { return CallReader(tables).Read(); }

// Call stacks that were recorded with calls: rows by call and depth, 0 being the innermost frame.

namespace {

struct Frame {
  uint32_t call;  // host row
  int64_t depth;
  StringId name;
};

// A frame is known only while its call runs.
void AddFrame(TracePart& part, const Frame& frame, StringId category) {
  HostEvents& host = part.data.host;
  AddHostRow(host, {.ts_ns = host.ts_ns[frame.call],
                    .dur_ns = host.dur_ns[frame.call],
                    .name = frame.name,
                    .track = host.track[frame.call],
                    .kind = HostKind::kPython});
  part.CountEvent('X', category, host.dur_ns.back());
}

}  // namespace

// Of equal times and kinds the first row is the outer one.
Result<void> ReadRpdStacks(RpdTables& tables) {
  if (!tables.schema.Has("rocpd_stackframe")) {
    return {};
  }
  enum FrameColumn : uint8_t { kFrameCall, kDepth, kFrameName };
  constexpr std::string_view kFrameColumns[] = {"api_ptr_id", "depth", "name_id"};
  BS_ASSIGN(TableRows rows, tables.Open("rocpd_stackframe", kFrameColumns));
  std::vector<Frame> frames;
  BS_TRY(rows.ForEach([&] {
    const int64_t id = rows.Integer(kFrameCall);
    const uint32_t call = id == kMissing ? RowIds::kNone : tables.calls.Find(id);
    if (call == RowIds::kNone) {
      tables.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                                 "rocpd_stackframe.api_ptr_id");
      return;
    }
    frames.push_back({call, rows.Integer(kDepth), tables.String(rows.Integer(kFrameName))});
  }));
  SortRuns(std::span(frames), [](const Frame& a, const Frame& b) {
    return a.call != b.call ? a.call < b.call : a.depth > b.depth;
  });
  const StringId category = tables.part.Intern("stackframe");
  for (const Frame& frame : frames) {
    AddFrame(tables.part, frame, category);
  }
  return {};
}

namespace {

// Tables that are read, and those without additional data.
constexpr std::string_view kReadTables[] = {"rocpd_api",        "rocpd_api_ops",   "rocpd_copyapi",
                                            "rocpd_copyop",     "rocpd_kernelapi", "rocpd_kernelop",
                                            "rocpd_metadata",   "rocpd_monitor",   "rocpd_op",
                                            "rocpd_stackframe", "rocpd_string",    "rocpd_ustring"};

struct RpdMetadata {
  std::string schema_version;
  bool has_right_copy_ends = false;  // a writer that declares it
  std::optional<RecordedCut> cut;
};

Result<RpdMetadata> ReadMetadata(RpdTables& tables) {
  RpdMetadata metadata;
  if (!tables.schema.Has("rocpd_metadata")) {
    return metadata;
  }
  constexpr std::string_view kColumns[] = {"tag", "value"};
  BS_ASSIGN(TableRows rows, tables.Open("rocpd_metadata", kColumns));
  BS_TRY(rows.ForEach([&] {
    if (rows.Text(0) == "schema_version") {
      metadata.schema_version = rows.Text(1);
    }
    if (rows.Text(0) == kCutTag) {
      metadata.cut = CutOfText(rows.Text(1));
    }
    metadata.has_right_copy_ends |=
        rows.Text(0) == kRpdCopyEndsTag && rows.Text(1) == kRpdCopyEndsRight;
  }));
  return metadata;
}

// The version by the content of the file: merged and old files have no row with it.
std::string_view VersionOf(const DatabaseSchema& schema) {
  if (schema.Has("rocpd_ustring") || schema.Has("rocpd_api", "domain_id")) {
    return "3";
  }
  return schema.Has("rocpd_kernelapi") || schema.Has("rocpd_copyapi") ? "2" : "1";
}

Result<void> ReadTexts(RpdTables& tables) {
  if (tables.schema.Has("rocpd_string")) {
    BS_TRY(tables.strings.Read(tables.database, tables.schema, "rocpd_string", "id", "string",
                               tables.part));
  }
  tables.has_own_arguments = tables.schema.Has("rocpd_ustring");
  if (tables.has_own_arguments) {
    BS_TRY(tables.arguments.Read(tables.database, tables.schema, "rocpd_ustring", "id", "string",
                                 tables.argument_texts, tables.diagnostics()));
  }
  tables.strings.Finish(tables.diagnostics());
  tables.arguments.Finish(tables.diagnostics());
  return {};
}

// rocpd_monitor: values of clocks and other monitors, each from start to end.
Result<void> ReadSamples(RpdTables& tables) {
  if (!tables.schema.Has("rocpd_monitor")) {
    return {};
  }
  enum Column : uint8_t { kType, kDevice, kName, kStart, kEnd, kValue };
  constexpr std::string_view kColumns[] = {"deviceType", "deviceId", "monitorType",
                                           "start",      "end",      "value"};
  BS_ASSIGN(TableRows rows, tables.Open("rocpd_monitor", kColumns));
  Samples& samples = tables.part.data.samples;
  return rows.ForEach([&] {
    const StringId name = tables.part.Intern(rows.Text(kName));
    tables.part.CountEvent('C', name, 0);
    const RowTime time = rows.Time(kStart, kEnd, rows.Text(kName));
    const std::optional<double> value = rows.Number(kValue);
    if (!time.has_start || !value.has_value()) {
      return;
    }
    const uint32_t row = AddMissingRow(samples);
    samples.ts_ns[row] = time.ts_ns;
    samples.end_ns[row] = time.ts_ns + time.dur_ns;
    samples.device_type[row] = tables.part.Intern(rows.Text(kType));
    samples.device[row] = rows.Integer(kDevice);
    samples.name[row] = name;
    samples.value[row] = *value;
  });
}

Result<void> CountUnreadTables(RpdTables& tables) {
  for (const auto& [table, columns] : tables.schema.tables()) {
    if (table.starts_with("sqlite_") ||
        std::find(std::begin(kReadTables), std::end(kReadTables), table) != std::end(kReadTables)) {
      continue;
    }
    BS_ASSIGN(const uint64_t count, CountRows(tables.database, tables.schema, table));
    tables.diagnostics().CountMany(Diag::kUnreadRows, count, Diagnostics::kNoByte, table);
  }
  return {};
}

Result<RpdMetadata> ReadAll(RpdTables& tables, const DatabaseInput& input) {
  constexpr size_t kStages = 6;
  TableProgress progress(input, kStages);
  BS_ASSIGN(RpdMetadata metadata, ReadMetadata(tables));
  BS_TRY(ReadTexts(tables));
  progress.Done();
  BS_TRY(ReadRpdCalls(tables));
  progress.Done();
  BS_TRY(ReadRpdDeviceWork(tables, !metadata.has_right_copy_ends));
  progress.Done();
  BS_TRY(ReadRpdStacks(tables));
  progress.Done();
  BS_TRY(ReadSamples(tables));
  progress.Done();
  BS_TRY(CountUnreadTables(tables));
  progress.Done();
  return metadata;
}

}  // namespace

bool IsRpd(const DatabaseSchema& schema) {
  return schema.Has("rocpd_api") && schema.Has("rocpd_op");
}

Result<Trace> LoadRpd(DatabaseInput input) {
  RpdTables tables{.database = input.database, .schema = input.schema};
  BS_ASSIGN(const RpdMetadata metadata, ReadAll(tables, input));
  const std::string version = metadata.schema_version.empty() ? std::string(VersionOf(input.schema))
                                                              : metadata.schema_version;
  input.meta.producer = "rocmProfileData, schema v" + version;
  input.meta.vendor = tables.saw_cuda ? Vendor::kNvidia : Vendor::kAmd;
  input.meta.devices = std::move(tables.part.data.meta.devices);
  input.meta.cut = metadata.cut;
  TraceBuilder builder;
  builder.Append(std::move(tables.part));
  return builder.Finish(std::move(input.meta), 0, input.options.threads);
}

std::string_view RpdRemedy(MissingData lack) {
  switch (lack) {
    case MissingData::kHost:
    case MissingData::kDeviceWork:
    case MissingData::kLaunches:
      return "let the tracer run while the device works (runTracer.sh)";
    case MissingData::kOperators:
      return "run the model in torch.autograd.profiler.emit_nvtx()";
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\"), or rangePush and rangePop of "
             "rpdTracerControl";
    default:
      return CommonRemedy(lack);
  }
}

}  // namespace borescope::internal
