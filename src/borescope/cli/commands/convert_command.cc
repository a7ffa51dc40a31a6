#include "borescope/cli/commands/convert_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/options/understand.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/verbs/convert/convert_run.h"

namespace borescope::internal::cli {
namespace {

// The last of several words is OUT, unless -o names it. A forgotten OUT must not cost the last IN.
Result<void> FindOutput(const RawOptions& raw, ConvertOptions& options) {
  options.inputs = raw.inputs;
  options.output = raw.output;
  if (raw.output.empty() && !raw.inputs.empty()) {
    options.output = options.inputs.back();
    options.inputs.pop_back();
  }
  if (options.inputs.empty()) {
    return UsageError("convert reads files and writes one; name IN, perhaps more, and OUT last");
  }
  std::error_code ignored;
  if (raw.output.empty() && options.inputs.size() > 1 &&
      std::filesystem::is_regular_file(options.output, ignored)) {
    return UsageError(options.output + ": exists; to replace it, name it with -o");
  }
  return {};
}

Result<ConvertOptions> UnderstandConvert(const RawOptions& raw) {
  if (!raw.format.empty()) {
    return UsageError("convert has no tables to write; choose the format of OUT with --to");
  }
  ConvertOptions options;
  BS_TRY(FindOutput(raw, options));
  options.to = raw.to;
  options.begin = raw.begin;
  options.end = raw.end;
  if (!raw.threads.empty()) {
    BS_ASSIGN(options.threads, ParseThreads(raw.threads));
  }
  return options;
}

Result<ConvertReport> ConvertWithProgress(const Command& command, ConvertOptions& options) {
  ProgressBar bar(command.raw);
  options.progress = bar.OfFile();
  return RunConvert(options);
}

// Whether `path` is our own standard output (/dev/stdout) and nobody reads it any more: then
// whoever did has what he wanted, as from the verbs that print.
bool HasLostReader(const std::string& path) {
  struct stat output{};
  struct stat standard{};
  pollfd waiting{STDOUT_FILENO, POLLOUT, 0};
  return stat(path.c_str(), &output) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
         output.st_dev == standard.st_dev && output.st_ino == standard.st_ino &&
         poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLERR) != 0;
}

void ReportOutcome(const ConvertReport& report, const std::string& path) {
  const auto digits = [](size_t count) { return GroupDigits(static_cast<int64_t>(count)); };
  std::string line = fmt::format("borescope: wrote {}: {} event{}", path, digits(report.written),
                                 report.written == 1 ? "" : "s");
  if (report.files > 1) {
    line += fmt::format(" of {} files", digits(report.files));
  }
  if (report.outside != 0) {
    line += fmt::format("; {} outside --begin and --end left out", digits(report.outside));
  }
  if (report.unplaced != 0) {
    line += fmt::format("; {} left out, for which {} has no place", digits(report.unplaced),
                        report.format);
  }
  if (report.clocks != 0) {
    line += fmt::format("; times of {} are as recorded: no clock in common with the first file",
                        report.clocks == 1 ? "1 file" : digits(report.clocks) + " files");
  }
  WriteMessageLine(line);
  if (report.skipped != 0) {
    WriteMessageLine(SkippedLine(report.skipped));
  }
}

}  // namespace

int RunConvertVerb(const Command& command) {
  Result<ConvertOptions> options = UnderstandConvert(command.raw);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  const Result<ConvertReport> report = ConvertWithProgress(command, *options);
  if (!report.ok()) {
    const bool is_lost = report.error().code == ErrorCode::kIo && HasLostReader(options->output);
    return is_lost ? kDone : FailWith(report.error(), command);
  }
  if (!command.raw.quiet) {
    ReportOutcome(*report, options->output);
    ReportQuality(report->diagnostics);
  }
  return kDone;
}

}  // namespace borescope::internal::cli
