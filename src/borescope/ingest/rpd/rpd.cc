#include "borescope/ingest/rpd/rpd.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "borescope/ingest/common_remedies.h"
#include "borescope/ingest/rpd/rpd_tables.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {

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
    case MissingData::kSteps:
      return remedies::kStepRanges;
    case MissingData::kShapes:
      return remedies::kShapes;
    case MissingData::kMemory:
      return remedies::kTorchMemory;
    case MissingData::kAnnotations:
      return "mark code with torch.cuda.nvtx.range(\"name\"), or rangePush and rangePop of "
             "rpdTracerControl";
    case MissingData::kCollectives:
      return remedies::kDistributed;
    case MissingData::kGraphs:
      return remedies::kNoGraphs;
    case MissingData::kCopies:
      return remedies::kNoCopies;
    case MissingData::kCounters:
      return remedies::kTorchCounters;
    case MissingData::kNone:
    case MissingData::kCount:
      break;
  }
  return {};
}

}  // namespace borescope::internal
