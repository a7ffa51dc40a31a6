#include "borescope/cli/convert_command.h"

#include <fmt/format.h>

#include <optional>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/terminal.h"
#include "borescope/run_convert.h"

namespace borescope::cli {
namespace {

Result<ConvertOptions> UnderstandConvert(const RawOptions& raw) {
  if (raw.inputs.size() != 2) {
    return Error{ErrorCode::kInvalidArgument,
                 raw.inputs.size() < 2
                     ? "convert reads one file and writes another; name IN and OUT"
                     : "convert writes one file at a time; name one IN and one OUT"};
  }
  if (!raw.format.empty() || !raw.output.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "convert has no tables to write; choose the format of OUT with --to"};
  }
  ConvertOptions options;
  options.input = raw.inputs[0];
  options.output = raw.inputs[1];
  options.to = raw.to;
  options.begin = raw.begin;
  options.end = raw.end;
  if (!raw.threads.empty()) {
    BS_ASSIGN(options.threads, ParseThreads(raw.threads));
  }
  return options;
}

Result<ConvertReport> ConvertWithProgress(const Command& command, ConvertOptions& options) {
  std::optional<ProgressBar> bar;
  if (ErrorIsTerminal() && !command.raw.quiet && !command.raw.no_progress) {
    bar.emplace();
    options.progress = [&](uint64_t done, uint64_t total) { bar->Show({done, total, 0, 1}); };
  }
  return RunConvert(options);
}

void TalkAbout(const ConvertReport& report, const std::string& path) {
  const auto digits = [](uint64_t count) { return GroupDigits(static_cast<int64_t>(count)); };
  std::string line = fmt::format("borescope: wrote {}: {} event{}", path, digits(report.written),
                                 report.written == 1 ? "" : "s");
  if (report.outside != 0) {
    line += fmt::format("; {} outside --begin and --end left out", digits(report.outside));
  }
  if (report.unplaced != 0) {
    line += fmt::format("; {} left out, for which {} has no place", digits(report.unplaced),
                        report.format);
  }
  Talk(line + "\n");
}

}  // namespace

int RunConvertVerb(const Command& command) {
  Result<ConvertOptions> options = UnderstandConvert(command.raw);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  const Result<ConvertReport> report = ConvertWithProgress(command, *options);
  if (!report.ok()) {
    return FailWith(report.error(), command);
  }
  if (!command.raw.quiet) {
    TalkAbout(*report, options->output);
    TalkAboutQuality(report->diagnostics);
  }
  return kDone;
}

}  // namespace borescope::cli
