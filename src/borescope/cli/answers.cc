#include "borescope/cli/answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "borescope/cli/commands.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/error.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

Result<void> WriteToFiles(const OutputOptions& output, const Answer& answer, bool quiet) {
  RenderOptions options;
  options.guard_formulas = output.csv_safe;
  BS_ASSIGN(const std::vector<std::string> paths,
            answer.Write(output.writer->name, output.path, options));
  if (paths.size() > 1 && !quiet) {
    WriteMessageLine(
        fmt::format("borescope: one table per file: wrote {}", fmt::join(paths, ", ")));
  }
  return {};
}

Result<void> WriteToTerminal(const OutputOptions& output, const Answer& answer) {
  return WriteToOutput([&](const Output& standard_output) -> Result<void> {
    const bool printable = isatty(STDOUT_FILENO) != 0;
    BS_TRY(answer.Write(output.writer->name, standard_output,
                        {TerminalWidth(), output.colour, printable, output.csv_safe}));
    return {};
  });
}

std::string Milliseconds(int64_t ns) {
  constexpr double kNanosecondsPerMillisecond = 1e6;
  return fmt::format("{:.1f} ms", static_cast<double>(ns) / kNanosecondsPerMillisecond);
}

std::string FileLine(const FileInfo& file) {
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
  return fmt::format("borescope: passed over {} file{}", skipped, skipped == 1 ? "" : "s");
}

void ReportPassedOver(const FoundParts& found, const RawOptions& raw) {
  if (found.passed_over != 0 && !raw.Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: passed over {} file{} that {} no part",
                                 found.passed_over, found.passed_over == 1 ? "" : "s",
                                 found.passed_over == 1 ? "is" : "are"));
  }
}

void ReportFiles(const std::vector<FileInfo>& files, const RawOptions& raw) {
  for (const std::string& line :
       raw.Has("quiet") ? std::vector<std::string>() : CacheLines(files)) {
    WriteMessageLine(line);
  }
  const bool verbose = raw.Has("verbose") && !raw.Has("quiet");
  for (const FileInfo& file : files) {
    if (!file.error.empty() && !file.skipped) {
      WriteMessageLine(fmt::format("borescope: {}", file.error));
    } else if (verbose) {
      WriteMessageLine(FileLine(file));
    }
  }
  const auto skipped =
      std::count_if(files.begin(), files.end(), [](const FileInfo& file) { return file.skipped; });
  if (skipped != 0 && !verbose && !raw.Has("quiet")) {
    WriteMessageLine(SkippedLine(static_cast<size_t>(skipped)) + "; -v says why");
  }
}

int StatusOf(const std::vector<FileInfo>& files) {
  const bool any_failed = std::any_of(files.begin(), files.end(), [](const FileInfo& file) {
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
  if (command.verb != nullptr) {
    verb = fmt::format("{} ", command.verb->name);
  } else if (command.analyses.size() == 1) {
    verb = fmt::format("{} ", command.analyses.front()->name);
  }
  const int status = Fail(WithOptions(error.Sentence()));
  if (error.code == ErrorCode::kInvalidArgument) {
    WriteMessageLine(fmt::format("Try: borescope {}--help", verb));
  }
  return status;
}

Result<void> WriteToOutput(const std::function<Result<void>(const Output&)>& write) {
  DescriptorWriter writer(STDOUT_FILENO, "standard output");
  const Result<void> written =
      write(Output::To([&](std::string_view bytes) { return writer.Write(bytes); }));
  if (writer.reader_is_gone()) {
    return {};
  }
  return written.ok() ? writer.Finish() : written;
}

int Print(const std::string& text) {
  const Result<void> written =
      WriteToOutput([&](const Output& output) { return output.write(text); });
  return written.ok() ? kDone : Fail(WithOptions(written.error().Sentence()));
}

void ReportQuality(std::span<const Diagnostic> diagnostics) {
  WriteMessage(RenderDiagnostics(diagnostics, {TerminalWidth(), false}));
}

Result<void> WriteAnswer(const OutputOptions& output, const Answer& answer,
                         const Command& command) {
  BS_TRY(CheckFiles(output, answer));
  const bool quiet = command.raw.Has("quiet");
  BS_TRY(output.path.empty() ? WriteToTerminal(output, answer)
                             : WriteToFiles(output, answer, quiet));
  if (!answer.CarriesDiagnostics(output.writer->name) && !quiet) {
    ReportQuality(answer.diagnostics());
  }
  return {};
}

}  // namespace borescope::cli
