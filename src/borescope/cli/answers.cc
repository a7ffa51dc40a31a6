#include "borescope/cli/answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "borescope/cli/commands.h"
#include "borescope/cli/terminal/terminal.h"

namespace borescope::internal::cli {
namespace {

int WriteToFiles(const OutputOptions& output, const Document& document, bool quiet) {
  const Result<std::vector<std::string>> paths =
      WriteFiles(*output.writer, document, {}, output.path);
  if (!paths.ok()) {
    return Fail(paths.error().message);
  }
  if (paths->size() > 1 && !quiet) {
    WriteMessageLine(
        fmt::format("borescope: one table per file: wrote {}", fmt::join(*paths, ", ")));
  }
  return kDone;
}

std::string Milliseconds(int64_t ns) {
  constexpr double kNanosecondsPerMillisecond = 1e6;
  return fmt::format("{:.1f} ms", static_cast<double>(ns) / kNanosecondsPerMillisecond);
}

std::string FileLine(const FileReport& file) {
  if (file.skipped) {
    return fmt::format("{}; skipped", file.error);
  }
  return fmt::format("{}: rank {}, {}, {} inflated, {} events; load {}, index {}, analysis {}",
                     file.path, file.rank, FormatBytes(file.file_bytes),
                     FormatBytes(file.text_bytes), GroupDigits(static_cast<int64_t>(file.events)),
                     Milliseconds(file.load_ns), Milliseconds(file.index_ns),
                     Milliseconds(file.analysis_ns));
}

}  // namespace

std::string SkippedLine(size_t skipped) {
  return fmt::format("borescope: passed over {}",
                     skipped == 1 ? "1 file that is no trace of a GPU"
                                  : fmt::format("{} files that are no traces of a GPU", skipped));
}

void ReportFiles(const std::vector<FileReport>& files, const RawOptions& raw) {
  const bool verbose = raw.verbose && !raw.quiet;
  for (const FileReport& file : files) {
    if (!file.error.empty() && !file.skipped) {
      WriteMessageLine(fmt::format("borescope: {}", file.error));
    } else if (verbose) {
      WriteMessageLine(FileLine(file));
    }
  }
  const auto skipped = std::count_if(files.begin(), files.end(),
                                     [](const FileReport& file) { return file.skipped; });
  if (skipped != 0 && !verbose && !raw.quiet) {
    WriteMessageLine(SkippedLine(static_cast<size_t>(skipped)) + "; -v says why");
  }
}

int StatusOf(const std::vector<FileReport>& files) {
  const bool any_failed = std::any_of(files.begin(), files.end(), [](const FileReport& file) {
    return !file.error.empty() && !file.skipped;
  });
  return any_failed ? kFailed : kDone;
}

int Fail(const std::string& message) {
  WriteMessageLine(fmt::format("borescope: {}", message));
  return kFailed;
}

int FailWith(const Error& error, const Command& command) {
  std::string verb;
  if (command.analyses.size() == 1) {
    verb = fmt::format("{} ", command.analyses.front()->name);
  } else if (command.verb != nullptr) {
    verb = fmt::format("{} ", command.verb->name);
  }
  const int status = Fail(error.message);
  if (error.code == ErrorCode::kInvalidArgument) {
    WriteMessageLine(fmt::format("Try: borescope {}--help", verb));
  }
  return status;
}

int WriteToOutput(const std::function<Result<void>(Sink&)>& write) {
  DescriptorSink sink(STDOUT_FILENO, "standard output");
  const Result<void> written = write(sink);
  return written.ok() || sink.reader_is_gone() ? kDone : Fail(written.error().message);
}

int Print(const std::string& text) {
  return WriteToOutput([&](Sink& sink) { return sink.Write(text); });
}

void ReportQuality(std::span<const DiagnosticRow> rows) {
  StringSink quality;
  static_cast<void>(WriteQuality(rows, {TerminalWidth(), false}, quality));
  WriteMessage(quality.text());
}

int WriteDocument(const OutputOptions& output, const Document& document, const Command& command) {
  if (const Result<void> checked = CheckFiles(output, document); !checked.ok()) {
    return FailWith(checked.error(), command);
  }
  const bool quiet = command.raw.quiet;
  const WriteOptions options{TerminalWidth(), output.colour};
  const int status =
      output.path.empty()
          ? WriteToOutput([&](Sink& sink) { return output.writer->write(document, options, sink); })
          : WriteToFiles(output, document, quiet);
  if (!CarriesDiagnostics(*output.writer, document) && !quiet) {
    ReportQuality(document.diagnostics);
  }
  return status;
}

}  // namespace borescope::internal::cli
