#include "borescope/cli/commands/report_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/scrubbing.h"
#include "borescope/cli/terminal/terminal.h"

namespace borescope::cli {
namespace {

constexpr int kMostRows = 1'000'000'000;

Result<void> CheckPage(const RawOptions& raw) {
  if (!raw.format.empty()) {
    return UsageError("report writes HTML; for tables in other formats ask the verbs themselves");
  }
  if (raw.output.empty() && isatty(STDOUT_FILENO) != 0) {
    return UsageError("report writes a page for a browser; name its file with -o report.html");
  }
  return {};
}

// --against is a run of its own, with the same options.
Result<std::vector<FileInfo>> WriteWithProgress(const Command& command, const Output& output) {
  RawOptions raw = command.raw;
  const std::string_view asked_like[] = {"summary"};
  CLI_TRY(CheckInputs(raw));
  CLI_TRY(CheckQuestion(asked_like, raw.ToParams()));
  ProgressBar bar(raw);
  CLI_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(raw, bar.Callback()));
  CLI_ASSIGN(const Run run, OpenRun(raw.inputs, raw, bar.Callback()));
  if (raw.against.empty()) {
    return run.Report(output, raw.ToParams());
  }
  CLI_ASSIGN(const Run against, OpenRun({&raw.against, 1}, raw, {}));
  return run.Report(output, raw.ToParams(), &against);
}

// Of partials, which hold what was selected.
Result<std::vector<FileInfo>> WriteOfParts(const RawOptions& raw, const Output& output) {
  const bool selects = std::any_of(raw.params.begin(), raw.params.end(),
                                   [](const auto& given) { return given.first != "top"; });
  if (selects || !raw.against.empty() || !raw.scrub.empty() || !raw.captures.empty()) {
    return UsageError(
        "a report of parts has what they were mapped with; give selections and --scrub "
        "to borescope map report, and compare runs with --against where their "
        "recordings are");
  }
  ReduceOptions options;
  if (const std::string top = raw.Param("top"); !top.empty()) {
    CLI_ASSIGN(const int rows, ParseCount("top", top, kMostRows));
    options.display.top = static_cast<size_t>(rows);
  }
  CLI_ASSIGN(const FoundParts found, FindParts(raw.inputs));
  ReportPassedOver(found, raw);
  return ReportOf(found.parts, output, options);
}

}  // namespace

Result<std::vector<FileInfo>> WriteReport(const Command& command, const Output& output) {
  CLI_ASSIGN(std::vector<FileInfo> files, HoldParts(command.raw.inputs)
                                              ? WriteOfParts(command.raw, output)
                                              : WriteWithProgress(command, output));
  ReportFiles(files, command.raw);
  if (!HasReportCharts() && !command.raw.quiet) {
    WriteMessage("borescope: plain tables without charts: this program was built without node\n");
  }
  return files;
}

Result<std::vector<FileInfo>> WriteReportOf(const Command& command,
                                            const std::vector<std::string>& paths,
                                            const Output& output, const StopToken& stop) {
  const RawOptions& raw = command.raw;
  const std::string_view asked_like[] = {"summary"};
  CLI_TRY(CheckQuestion(asked_like, raw.ToParams()));
  CLI_ASSIGN(const Run all, OpenRun(raw.inputs, raw, {}, stop));
  const std::vector<std::string> names = all.paths();
  std::vector<size_t> chosen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(paths.begin(), paths.end(), names[i]) != paths.end()) chosen.push_back(i);
  }
  CLI_ASSIGN(const Run some, all.Only(chosen, 0));
  if (raw.against.empty()) {
    return some.Report(output, raw.ToParams());
  }
  CLI_ASSIGN(const Run against, OpenRun({&raw.against, 1}, raw, {}, stop));
  return some.Report(output, raw.ToParams(), &against);
}

int RunReportVerb(const Command& command) {
  if (const Result<void> checked = CheckPage(command.raw); !checked.ok()) {
    return FailWith(checked.error(), command);
  }
  int read = kDone;
  const auto write = [&](const Output& output) -> Result<void> {
    CLI_ASSIGN(const std::vector<FileInfo> files, WriteReport(command, output));
    read = StatusOf(files);
    return {};
  };
  const std::string& path = command.raw.output;
  const Result<void> written = path.empty() ? WriteToOutput(write) : write(path);
  return written.ok() ? read : FailWith(written.error(), command);
}

}  // namespace borescope::cli
