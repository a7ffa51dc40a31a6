#include "borescope/scrub/scrub_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/paths.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/ingest/ncu/counter_reports.h"
#include "borescope/ingest/pickle/plain_reader.h"
#include "borescope/ingest/recording/log_chunks.h"
#include "borescope/output/sink/sink.h"
#include "borescope/scrub/json/scrub_json.h"
#include "borescope/scrub/scrub_database.h"
#include "borescope/scrub/scrub_plain.h"

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

// What cannot be read is no other format: who took it for one would leave it out of a folder.
Result<void> CheckBegin(const TextReader& reader, const std::string& name) {
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  if (reader.window().empty() && !reader.damage().empty()) {
    return Error{ErrorCode::kCorrupt,
                 "the " + std::string(reader.damage()) + " and nothing could be inflated",
                 "copy the file again", name};
  }
  return {};
}

Result<void> FillFirst(TextReader& reader, const std::string& name) {
  reader.Fill();
  return CheckBegin(reader, name);
}

Result<ScrubbedFile> WriteText(TextReader& reader, const std::string& name,
                               const std::string& output, Scrubber& scrubber) {
  reader.SkipByteOrderMark();
  const char first = reader.SkipSpace();
  BS_TRY(CheckBegin(reader, name));
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

// Which of both, if it is what a dead job left.
std::optional<RecordingKind> PlainKindOf(std::string_view head) {
  const PlainGuess guess = GuessPlain(head);
  const bool is_plain = guess.content == PlainContent::kFlightRecorder ||
                        guess.content == PlainContent::kMemorySnapshot;
  return !is_plain       ? std::nullopt
         : guess.is_json ? std::optional(RecordingKind::kPlainJson)
                         : std::optional(RecordingKind::kPickle);
}

// A dump holds no time of its own: how long ranks waited when it was written is that of its file.
Result<void> CopyTime(const std::string& input, const std::string& output) {
  BS_ASSIGN(const struct stat status, StatusOf(input));
  const struct timespec times[] = {status.st_atim, status.st_mtim};
  if (utimensat(AT_FDCWD, output.c_str(), times, 0) != 0) {
    return Error{.code = ErrorCode::kIo,
                 .cause = "its time cannot be set: " + std::generic_category().message(errno),
                 .file = output};
  }
  return {};
}

Result<ScrubbedFile> WritePlain(TextReader& reader, RecordingKind kind, const std::string& input,
                                const std::string& output, Scrubber& scrubber) {
  const std::string name = input == "-" ? "standard input" : input;
  ScrubbedText written;
  BS_ASSIGN(const std::unique_ptr<FileSink> file, FileSink::Open(output));
  BS_TRY(WriteMaybeGzip(output, *file, [&](Sink& sink) -> Result<void> {
    BS_ASSIGN(written, kind == RecordingKind::kPickle
                           ? ScrubPickle(reader, name, scrubber, sink)
                           : ScrubPlainJson(reader, name, scrubber, sink));
    return {};
  }));
  const bool is_file = !file->draft().empty();
  BS_TRY(file->Commit());
  if (input != "-" && is_file) {
    BS_TRY(CopyTime(input, output));
  }
  return ScrubbedFile{kind, written.events, written.dropped, false};
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
  BS_TRY(FillFirst(reader, path == "-" ? "standard input" : path));
  return reader.window().starts_with(kSqliteMagic)
             ? RecordingKind::kDatabase
             : PlainKindOf(reader.window()).value_or(RecordingKind::kText);
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
  BS_TRY(FillFirst(reader, name));
  if (const std::optional<RecordingKind> plain = PlainKindOf(reader.window()); plain.has_value()) {
    return WritePlain(reader, *plain, input, output, scrubber);
  }
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
  if (!reader.damage().empty()) {
    return Error{ErrorCode::kCorrupt,
                 "the " + std::string(reader.damage()) + ", and half a database cannot be read",
                 "copy the file again", name};
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
