#include "borescope/ingest/load.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/ingest/database.h"
#include "borescope/ingest/events/kineto_json.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/foreign_files.h"
#include "borescope/ingest/memory_timeline.h"
#include "borescope/ingest/ncu/counter_csv.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/ingest/ncu/ncu_report.h"
#include "borescope/ingest/ncu/report_trace.h"
#include "borescope/ingest/recording/recording.h"
#include "borescope/json/json_cursor.h"

namespace borescope::internal {
namespace {

// One row per format that is text; the first whose `matches` accepts its start reads it. Text that
// no row accepts, including damaged text, is treated as kKineto, if it can be nothing else.
struct Format {
  TraceFormat format;
  std::string_view summary;
  bool (*matches)(std::string_view text);
  Result<Trace> (*load)(TextReader& reader, const std::string& name, const LoadOptions& options);
  Remedy remedy;  // nullptr: PyTorch's
};

constexpr Format kFormats[] = {
    {TraceFormat::kMemoryTimeline, "raw file of export_memory_timeline, plain, .gz or .zst",
     MayBeMemoryTimeline, LoadMemoryTimeline, nullptr},
    {TraceFormat::kXla, "trace.json.gz of JAX and TensorFlow (XLA)", IsXlaTrace, LoadXlaTrace,
     XlaRemedy},
    {TraceFormat::kOnnxRuntime, "profile of ONNX Runtime", IsOnnxRuntimeTrace, LoadOnnxRuntimeTrace,
     OnnxRuntimeRemedy},
    {TraceFormat::kAutograd, "trace of torch.autograd.profiler before Kineto", IsAutogradTrace,
     LoadAutogradTrace, AutogradRemedy},
    {TraceFormat::kAscend, "trace_view.json of the Ascend PyTorch Profiler", IsAscendTrace,
     LoadAscendTrace, AscendRemedy},
    {TraceFormat::kNcuReport, "counters of Nsight Compute: .ncu-rep, .ncu-repz", IsNcuReport,
     LoadCounterReport, NcuRemedy},
    {TraceFormat::kNcuCsv, "counters of Nsight Compute, as ncu --csv prints them", IsNcuCsv,
     LoadCounterReport, NcuRemedy},
    {TraceFormat::kRocprofV3Csv, "counters of rocprofv3 --pmc, as CSV", IsRocprofCounters,
     LoadCounterReport, RocprofCountersRemedy},
};
constexpr FormatRow kKineto = {FormatName(TraceFormat::kKineto),
                               "PyTorch profiler trace (Chrome JSON), plain, .gz or .zst"};

// nullptr if none accepts it.
const Format* FindFormat(std::string_view text) {
  text.remove_prefix(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  const auto* const format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                          [text](const Format& row) { return row.matches(text); });
  return format == std::end(kFormats) ? nullptr : format;
}

std::vector<FormatRow> AllFormats() {
  std::vector<FormatRow> rows = {kKineto};
  std::transform(std::begin(kFormats), std::end(kFormats), std::back_inserter(rows),
                 [](const Format& row) { return FormatRow{FormatName(row.format), row.summary}; });
  rows.insert(rows.end(), DatabaseFormats().begin(), DatabaseFormats().end());
  rows.push_back({FormatName(TraceFormat::kRecording), "folder or log of borescope record"});
  return rows;
}

// The first bytes of an ordinary file; none of standard input.
Result<std::string> BeginOf(const std::string& path) {
  return path == "-" ? Result(std::string()) : BeginOfFile(path, kSqliteMagic.size());
}

// A database is not read from front to back: SQLite opens the file itself.
Result<Trace> LoadDatabaseFile(const std::string& path, const LoadOptions& options) {
  BS_ASSIGN(const std::optional<FileState> before, FileState::Of(path));
  BS_ASSIGN(SqlDatabase database, SqlDatabase::OpenRead(path));
  Result<Trace> trace = LoadDatabase(database, database.bytes().size(), options);
  if (!database.is_copy()) {
    BS_ASSIGN(const std::optional<FileState> after, FileState::Of(path));
    return after == before ? std::move(trace) : ChangedWhileRead(path);
  }
  if (!trace.ok()) {
    return trace;
  }
  TraceData data = std::move(*trace).Take();
  data.diagnostics.Count(Diag::kUnfinishedWrites);
  return Trace(std::move(data));
}

// A compressed log, or one from a pipe, is read into memory.
Result<Trace> LoadLog(TextReader& reader, const std::string& name, const LoadOptions& options) {
  while (reader.Fill()) {
  }
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  BS_ASSIGN(Trace trace, LoadRecordingLog(reader.window(), name, reader.stored_bytes(), options));
  if (reader.damage().empty()) {
    return trace;
  }
  TraceData data = std::move(trace).Take();
  data.diagnostics.Count(Diag::kTruncatedGzip, Diagnostics::kNoByte, reader.damage());
  return Trace(std::move(data));
}

// A compressed database, or one from a pipe, is read into memory.
Result<Trace> LoadSqlite(TextReader& reader, const std::string& name, const LoadOptions& options) {
  while (reader.Fill()) {
  }
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  if (!reader.damage().empty()) {
    return Error{ErrorCode::kCorrupt,
                 "the " + std::string(reader.damage()) + ", and half a database cannot be read",
                 "copy the file again", name};
  }
  BS_ASSIGN(SqlDatabase database, SqlDatabase::OpenBytes(reader.window(), name));
  return LoadDatabase(database, reader.stored_bytes(), options);
}

// What `load` returns; an Error about `name` if the rows of the file cannot be numbered.
template <class Load>
Result<Trace> LoadNumbered(const std::string& name, const Load& load) {
  try {
    return load();
  } catch (const TooManyRows& error) {
    return Error{ErrorCode::kUnsupportedFormat, error.what(), {}, name};
  }
}

Result<Trace> LoadSource(std::unique_ptr<ByteSource> source, const std::string& name,
                         const LoadOptions& options) {
  Result<OpenedSource> opened = InflateIfCompressed(std::move(source));
  if (!opened.ok()) {
    return InFile(name, opened.error());
  }
  TextReader reader(std::move(*opened), options.progress);
  reader.Fill();
  if (reader.window().starts_with(kSqliteMagic)) {
    return LoadSqlite(reader, name, options);
  }
  if (IsRecordingLog(reader.window())) {
    return LoadLog(reader, name, options);
  }
  if (reader.window().empty() && !reader.damage().empty()) {
    return Error{ErrorCode::kCorrupt,
                 "the " + std::string(reader.damage()) + " and nothing could be inflated",
                 "copy the file again", name};
  }
  const Format* format = FindFormat(reader.window());
  if (format == nullptr && !reader.error().has_value()) {
    BS_TRY(CheckIsNotForeign(reader.window(), name));
  }
  reader.SkipByteOrderMark();
  return format == nullptr ? LoadKinetoJson(reader, name, options)
                           : format->load(reader, name, options);
}

}  // namespace

Result<Trace> LoadFile(const std::string& path, const LoadOptions& options) {
  BS_ASSIGN(const std::string begin, BeginOf(path));
  if (begin == kSqliteMagic) {
    return LoadNumbered(path, [&] { return LoadDatabaseFile(path, options); });
  }
  if (IsRecordingLog(begin)) {
    return LoadLogs({&path, 1}, options);
  }
  if (IsNcuReport(begin)) {
    return LoadNumbered(path, [&] { return LoadNcuReportFile(path, options); });
  }
  const std::string name = path == "-" ? "standard input" : path;
  return ReadUnchanged(path, [&]() -> Result<Trace> {
    BS_ASSIGN(std::unique_ptr<ByteSource> source, OpenFile(path));
    return LoadFrom(std::move(source), name, options);
  });
}

Result<Trace> LoadLogs(std::span<const std::string> paths, const LoadOptions& options) {
  return LoadNumbered(paths.front(), [&] { return LoadRecording(paths, options); });
}

Result<Trace> LoadBytes(std::string_view bytes, const std::string& name,
                        const LoadOptions& options) {
  return LoadFrom(OpenMemory(bytes), name, options);
}

Result<Trace> LoadFrom(std::unique_ptr<ByteSource> source, const std::string& name,
                       const LoadOptions& options) {
  return LoadNumbered(name, [&] { return LoadSource(std::move(source), name, options); });
}

Result<bool> MayBeTrace(const std::string& path) {
  BS_ASSIGN(const std::string stored, BeginOf(path));
  if (stored == kSqliteMagic || IsRecordingLog(stored)) {
    return true;
  }
  Result<OpenedSource> opened = OpenInflated(path);
  if (!opened.ok()) {
    return opened.error().code == ErrorCode::kIo ? Result<bool>(opened.error()) : false;
  }
  TextReader reader(std::move(*opened), {});
  reader.Fill();
  if (reader.error().has_value() && reader.error()->code == ErrorCode::kIo) {
    return InFile(path, *reader.error());
  }
  reader.SkipByteOrderMark();
  const std::string_view text = reader.window();
  if (CounterFormatOf(text).has_value()) {
    return false;
  }
  const bool is_json = text.starts_with('{') || text.starts_with('[');
  return text.starts_with(kSqliteMagic) || FindFormat(text) != nullptr ||
         (is_json && CheckIsNotForeign(text, path).ok());
}

Remedy RemedyOf(TraceFormat format) {
  const auto* const row = std::find_if(std::begin(kFormats), std::end(kFormats),
                                       [format](const Format& f) { return f.format == format; });
  return row != std::end(kFormats)           ? row->remedy
         : format == TraceFormat::kRecording ? RecordingRemedy
                                             : RemedyOfDatabase(format);
}

std::span<const FormatRow> Formats() {
  static const std::vector<FormatRow> rows = AllFormats();
  return rows;
}

}  // namespace borescope::internal
