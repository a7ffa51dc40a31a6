#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/convert.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

// The last of several words is OUT, unless -o names it. A forgotten OUT must not cost the last IN.
Result<void> FindOutput(const RawOptions& raw, ConvertOptions& request) {
  request.inputs = raw.inputs;
  request.output = raw.Get("output");
  if (raw.Get("output").empty() && !raw.inputs.empty()) {
    request.output = request.inputs.back();
    request.inputs.pop_back();
  }
  if (request.inputs.empty()) {
    return UsageError("convert reads files and writes one; name IN, perhaps more, and OUT last");
  }
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(request.output));
  if (raw.Get("output").empty() && request.inputs.size() > 1 &&
      type == std::filesystem::file_type::regular) {
    return UsageError(request.output + ": exists; to replace it, name it with -o");
  }
  return {};
}

std::vector<std::string> ListOf(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    words.emplace_back(word);
  }
  return words;
}

Result<ConvertOptions> UnderstandConvert(const RawOptions& raw) {
  if (!raw.Get("format").empty()) {
    return UsageError("convert has no tables to write; choose the format of OUT with --to");
  }
  ConvertOptions request;
  BS_TRY(FindOutput(raw, request));
  request.to = raw.Get("to");
  request.align = raw.Get("align");
  request.keeps_context = !raw.Has("no-context");
  request.steps = raw.Get("step");
  request.overlays = ListOf(raw.Get("overlay"));
  request.begin = raw.Get("begin");
  request.end = raw.Get("end");
  BS_ASSIGN(request.threads, ParseThreads(raw.Get("threads")));
  BS_ASSIGN(request.scrub, ParseScrub(raw));
  BS_TRY(KeepMemoryLimit(raw));
  return request;
}

Result<ConvertReport> ConvertWithProgress(const Command& command, ConvertOptions& request) {
  ProgressBar bar(command.raw);
  request.progress = bar.Callback();
  return Convert(request);
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

// "+1,234.567 us", exactly.
std::string Microseconds(int64_t ns) {
  const auto size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  return fmt::format("{}{}.{:03} us", ns < 0 ? "-" : "+",
                     GroupDigits(static_cast<int64_t>(size / 1000)), size % 1000);
}

void ReportAlignment(const AlignedFile& file) {
  const bool is_known = file.error_ns != 0;
  WriteMessageLine(fmt::format("borescope: {}: times moved by {} ({}{})", file.file,
                               Microseconds(file.shift_ns), file.verdict,
                               is_known
                                   ? fmt::format("; to within {} us", (file.error_ns + 500) / 1000)
                                   : ", by its own clock"));
}

void ReportOutcome(const ConvertReport& report, const std::string& path) {
  const auto digits = [](size_t count) { return GroupDigits(static_cast<int64_t>(count)); };
  std::string line =
      fmt::format("borescope: wrote {}: {} {}{}", path, digits(report.written),
                  report.scrubbed ? "record" : "event", report.written == 1 ? "" : "s");
  if (report.files > 1) {
    line += fmt::format(" of {} files", digits(report.files));
  }
  if (report.outside != 0) {
    line += fmt::format("; {} outside of what was selected left out", digits(report.outside));
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
  for (const AlignedFile& file : report.aligned) ReportAlignment(file);
  if (report.skipped != 0) {
    WriteMessageLine(SkippedLine(report.skipped));
  }
}

}  // namespace

Result<int> RunConvertVerb(const Command& command) {
  BS_ASSIGN(ConvertOptions request, UnderstandConvert(command.raw));
  const Result<ConvertReport> report = ConvertWithProgress(command, request);
  if (!report.ok()) {
    const bool is_lost = report.error().code == ErrorCode::kIo && HasLostReader(request.output);
    return is_lost ? Result<int>(kDone) : report.error();
  }
  if (!command.raw.Has("quiet")) {
    ReportOutcome(*report, request.output);
    ReportQuality(report->diagnostics);
  }
  return kDone;
}

}  // namespace borescope::cli
