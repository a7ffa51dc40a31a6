#include "borescope/ingest/load.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "borescope/base/io/inflate.h"
#include "borescope/base/io/unchanged.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/database.h"
#include "borescope/ingest/events/kineto_json.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/memory_timeline.h"
#include "borescope/ingest/perfetto_sniff.h"
#include "borescope/ingest/recording/recording.h"
#include "borescope/json/json_space.h"

namespace borescope::internal {
namespace {

// One row per format that is text; the first whose `matches` accepts its start reads it. Text that
// no row accepts, including damaged text, is treated as kKineto, if it can be nothing else.
struct Format {
  TraceFormat format;
  std::string_view summary;
  bool (*matches)(std::string_view text);
  Result<Trace> (*load)(TextReader& reader, const std::string& name, const LoadOptions& options);
};

constexpr Format kFormats[] = {
    {TraceFormat::kMemoryTimeline, "raw file of export_memory_timeline, plain, .gz or .zst",
     MayBeMemoryTimeline, LoadMemoryTimeline},
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

// Kinds of file that are recognised only to name them in errors.
struct ForeignRow {
  std::string_view magic;
  std::string_view what;
  std::string_view remedy;
  size_t within = 0;  // the last offset at which the magic may begin
  // An additional condition.
  bool (*also)(std::string_view text) = nullptr;
};

// A Perfetto trace starts with the byte of a newline, and so may any text: the next bytes decide.
bool IsPerfetto(std::string_view text) {
  const auto is_binary = [](char c) { return static_cast<unsigned char>(c) < '\t'; };
  return FirstPacketEnd(text) > 0 && std::any_of(text.begin(), text.end(), is_binary);
}

// "0.0.4", "1.0.0": numbers with dots between them.
bool IsVersion(std::string_view text) {
  const auto is_part = [](char c) { return c == '.' || IsDigit(c); };
  return Contains(text, ".") && !Contains(text, "..") && IsDigit(text.front()) &&
         IsDigit(text.back()) && std::all_of(text.begin(), text.end(), is_part);
}

// A Chakra trace whose first message has no attributes: its length, then tag, length and text of
// the version.
bool BeginsWithVersion(std::string_view text) {
  constexpr size_t kHead = 3;
  constexpr unsigned kLongest = 16;
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  return text.size() > kHead && byte(2) <= kLongest && byte(0) == byte(2) + kHead - 1 &&
         text.size() >= kHead + byte(2) && IsVersion(text.substr(kHead, byte(2)));
}

using namespace std::string_view_literals;
constexpr std::string_view kChakra = "a Chakra execution trace";
constexpr std::string_view kChakraRemedy = "give it to borescope chakra dump, draw or check";
constexpr ForeignRow kForeign[] = {
    {"borescope graph\n"sv, "a graph that critical-path --save wrote",
     "give it with critical-path --load"},
    // An attribute of its first message, after lengths and tags.
    {"\x0a\x06schema"sv, kChakra, kChakraRemedy, 16},
    {"\x0a"sv, kChakra, kChakraRemedy, 1, BeginsWithVersion},
    {"PK\x03\x04"sv, "a zip archive", "unpack it and give the trace inside"},
    {"\x80"sv, "a Python pickle (memory snapshot?)",
     "give the trace written by export_chrome_trace"},
    {"\x0a"sv, "a Perfetto protobuf trace",
     "record with export_chrome_trace to a .json or .json.gz file", 0, IsPerfetto},
    // The first line of .nsys-rep and .qdrep files, followed by the version that wrote them.
    {"NVIDIA Tegra Profiler Report"sv, "an Nsight Systems report",
     "turn it into a database with nsys export --type sqlite"},
    {"\x7f"
     "ELF"sv,
     "a program", "give a trace file"},
    {"\x89PNG"sv, "a picture", "give a trace file"},
};

Error Unsupported(const std::string& name, std::string_view what, std::string_view remedy) {
  return {ErrorCode::kUnsupportedFormat, name + ": byte 0: this is " + std::string(what) +
                                             ", not a profile that borescope reads; " +
                                             std::string(remedy)};
}

bool IsForeign(std::string_view text, const ForeignRow& row) {
  return Contains(text.substr(0, row.within + row.magic.size()), row.magic) &&
         (row.also == nullptr || row.also(text));
}

// A file that no format accepts and that cannot be Kineto either is named in the error.
Result<void> CheckKind(std::string_view text, const std::string& name) {
  const auto first = std::find_if_not(text.begin(), text.end(), IsSpace);
  if (first == text.end()) {
    return Error{ErrorCode::kCorrupt, name +
                                          ": byte 0: the file is empty; profile again or check "
                                          "that the copy finished"};
  }
  for (const ForeignRow& row : kForeign) {
    if (IsForeign(text, row)) {
      return Unsupported(name, row.what, row.remedy);
    }
  }
  if (*first != '{' && *first != '[' && !text.starts_with(kByteOrderMark)) {
    return Unsupported(name, "neither JSON nor a database",
                       "give a file written by torch.profiler's export_chrome_trace, or one of "
                       "another format in `borescope list`");
  }
  const auto second = std::find_if_not(first + 1, text.end(), IsSpace);
  if (*first == '[' && second != text.end() && *second != '{' && *second != ']') {
    return Unsupported(name, "a JSON list of something else than events",
                       "give a file written by torch.profiler's export_chrome_trace");
  }
  return {};
}

// The first bytes of an ordinary file; zeros where there are none.
std::string BeginOf(const std::string& path) {
  std::error_code ignored;
  std::string begin(kSqliteMagic.size(), '\0');
  if (path != "-" && std::filesystem::is_regular_file(path, ignored)) {
    std::ifstream(path, std::ios::binary)
        .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  }
  return begin;
}

// A database is not read from front to back: SQLite opens the file itself.
Result<Trace> LoadDatabaseFile(const std::string& path, const LoadOptions& options) {
  const std::optional<FileState> before = FileState::Of(path);
  BS_ASSIGN(SqlDatabase database, SqlDatabase::OpenRead(path));
  Result<Trace> trace = LoadDatabase(database, database.bytes().size(), options);
  if (!database.is_copy()) {
    return FileState::Of(path) == before ? std::move(trace) : ChangedWhileRead(path);
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
    return Error{reader.error()->code, name + ": " + reader.error()->message};
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
    return Error{reader.error()->code, name + ": " + reader.error()->message};
  }
  if (!reader.damage().empty()) {
    return Error{ErrorCode::kCorrupt, name + ": the " + std::string(reader.damage()) +
                                          ", and half a database cannot be read; copy the file "
                                          "again"};
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
    return Error{ErrorCode::kUnsupportedFormat, name + ": " + error.what()};
  }
}

Result<Trace> LoadSource(std::unique_ptr<ByteSource> source, const std::string& name,
                         const LoadOptions& options) {
  Result<OpenedSource> opened = InflateIfCompressed(std::move(source));
  if (!opened.ok()) {
    return Error{opened.error().code, name + ": " + opened.error().message};
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
    return Error{ErrorCode::kCorrupt, name + ": the " + std::string(reader.damage()) +
                                          " and nothing could be inflated; copy the file again"};
  }
  const Format* format = FindFormat(reader.window());
  if (format == nullptr && !reader.error().has_value()) {
    BS_TRY(CheckKind(reader.window(), name));
  }
  reader.SkipByteOrderMark();
  return format == nullptr ? LoadKinetoJson(reader, name, options)
                           : format->load(reader, name, options);
}

}  // namespace

Result<Trace> LoadFile(const std::string& path, const LoadOptions& options) {
  const std::string begin = BeginOf(path);
  if (begin == kSqliteMagic) {
    return LoadNumbered(path, [&] { return LoadDatabaseFile(path, options); });
  }
  if (IsRecordingLog(begin)) {
    return LoadLogs({&path, 1}, options);
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

Remedy RemedyOf(TraceFormat format) {
  return format == TraceFormat::kRecording ? RecordingRemedy : RemedyOfDatabase(format);
}

std::span<const FormatRow> Formats() {
  static const std::vector<FormatRow> rows = AllFormats();
  return rows;
}

}  // namespace borescope::internal
