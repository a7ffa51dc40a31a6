#include "borescope/scrub/scrub_file.h"

#include <utility>

#include "borescope/base/io/paths.h"
#include "borescope/base/io/unchanged.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/ingest/recording/log_chunks.h"
#include "borescope/output/sink/sink.h"
#include "borescope/scrub/json/scrub_json.h"
#include "borescope/scrub/scrub_database.h"

namespace borescope::internal {
namespace {

Result<bool> IsDatabaseFile(const std::string& path) {
  if (path == "-") {
    return false;
  }
  BS_ASSIGN(const std::string begin, BeginOfFile(path, kSqliteMagic.size()));
  return begin == kSqliteMagic;
}

Result<ScrubbedFile> WriteDatabase(SqlDatabase& source, const std::string& output,
                                   Scrubber& scrubber) {
  BS_ASSIGN(const std::unique_ptr<FileSink> file, FileSink::Open(output));
  if (file->draft().empty() || output.ends_with(".gz")) {
    return Error{ErrorCode::kInvalidArgument,
                 "a database needs an ordinary file, not compressed",
                 {},
                 output};
  }
  BS_ASSIGN(const ScrubbedDatabase written, ScrubDatabase(source, file->draft(), scrubber));
  BS_TRY(file->Commit());
  return ScrubbedFile{RecordingKind::kDatabase, written.rows, written.dropped_tables};
}

Result<ScrubbedFile> WriteText(TextReader& reader, const std::string& name,
                               const std::string& output, Scrubber& scrubber) {
  reader.SkipByteOrderMark();
  const char first = reader.SkipSpace();
  if (IsRecordingLog(reader.window())) {
    return Error{ErrorCode::kUnsupportedFormat,
                 "logs of borescope record are not scrubbed as they are",
                 "convert the recording to a .json.gz file, and that with `scrub`", name};
  }
  if (CounterFormatOf(reader.window()).has_value()) {
    return Error{ErrorCode::kUnsupportedFormat,
                 "reports of counters are not scrubbed as they are: they hold names of machines, "
                 "addresses, arguments and environments of programs",
                 "convert the report to a .json.gz file, and that with `scrub`", name};
  }
  if (first != '{' && first != '[') {
    return Error{ErrorCode::kUnsupportedFormat, "neither JSON nor a database",
                 "give a recording that borescope list names", name};
  }
  ScrubbedText written;
  BS_ASSIGN(const std::unique_ptr<FileSink> file, FileSink::Open(output));
  BS_TRY(WriteMaybeGzip(output, *file, [&](Sink& sink) -> Result<void> {
    BS_ASSIGN(written, ScrubJson(reader, name, scrubber, sink));
    return {};
  }));
  BS_TRY(file->Commit());
  return ScrubbedFile{RecordingKind::kText, written.events, written.dropped, written.was_cut};
}

Result<ScrubbedFile> ScrubDatabaseFile(const std::string& input, const std::string& output,
                                       Scrubber& scrubber) {
  BS_ASSIGN(const std::optional<FileState> before, FileState::Of(input));
  BS_ASSIGN(SqlDatabase source, SqlDatabase::OpenRead(input));
  BS_ASSIGN(ScrubbedFile written, WriteDatabase(source, output, scrubber));
  BS_ASSIGN(const std::optional<FileState> after, FileState::Of(input));
  if (!source.is_copy() && after != before) {
    return ChangedWhileRead(input);
  }
  return written;
}

}  // namespace

Result<RecordingKind> KindOfRecording(const std::string& path) {
  BS_ASSIGN(const bool is_database, IsDatabaseFile(path));
  if (is_database) {
    return RecordingKind::kDatabase;
  }
  BS_ASSIGN(OpenedSource source, OpenInflated(path));
  TextReader reader(std::move(source), {});
  reader.Fill();
  return reader.window().starts_with(kSqliteMagic) ? RecordingKind::kDatabase
                                                   : RecordingKind::kText;
}

Result<ScrubbedFile> ScrubFile(const std::string& input, const std::string& output,
                               Scrubber& scrubber,
                               const std::function<void(uint64_t, uint64_t)>& progress) {
  BS_ASSIGN(const bool is_database, IsDatabaseFile(input));
  if (is_database) {
    return ScrubDatabaseFile(input, output, scrubber);
  }
  BS_ASSIGN(OpenedSource source, OpenInflated(input));
  const std::string name = input == "-" ? "standard input" : input;
  TextReader reader(std::move(source), progress);
  reader.Fill();
  if (IsXlaTrace(reader.window()) || IsAscendTrace(reader.window()) ||
      IsOnnxRuntimeTrace(reader.window()) || IsAutogradTrace(reader.window())) {
    return Error{ErrorCode::kUnsupportedFormat,
                 "only the Chrome JSON of PyTorch's profiler can be scrubbed, and another profiler "
                 "wrote this",
                 "convert it with borescope convert, and scrub that", name};
  }
  if (!reader.window().starts_with(kSqliteMagic)) {
    return WriteText(reader, name, output, scrubber);
  }
  while (reader.Fill()) {
  }
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  BS_ASSIGN(SqlDatabase database, SqlDatabase::OpenBytes(reader.window(), name));
  return WriteDatabase(database, output, scrubber);
}

Result<void> WriteNameMap(const Scrubber& scrubber, const std::string& path) {
  return WriteFile(path, [&](Sink& sink) -> Result<void> {
    std::string text = "{";
    std::string_view separator = "\n";
    for (const auto& [name, was] : scrubber.names()) {
      text.append(separator).append(JsonString(name)).append(": ").append(JsonString(was));
      separator = ",\n";
    }
    return sink.Write(text + "\n}\n");
  });
}

}  // namespace borescope::internal
