#include "borescope/cli/commands/report_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include "borescope/catalog/catalog.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/options/understand.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/report/report.h"

namespace borescope::internal::cli {
namespace {

Result<void> CheckOutput(const RawOptions& raw) {
  if (!raw.format.empty()) {
    return UsageError("report writes HTML; for tables in other formats ask the verbs themselves");
  }
  if (raw.output.empty() && isatty(STDOUT_FILENO) != 0) {
    return UsageError("report writes a page for a browser; name its file with -o report.html");
  }
  return {};
}

// Options mean what they mean for an analysis that takes a selection.
Result<RunOptions> UnderstandReport(const RawOptions& raw) {
  const AnalysisSpec* const specs[] = {FindAnalysis("summary")};
  BS_ASSIGN(RunOptions options, Understand(specs, raw));
  if (!raw.against.empty()) {
    BS_ASSIGN(options.test.files, ExpandInputs({&raw.against, 1}));
  }
  BS_TRY(CheckNoInput(InputPaths(options), raw.output, "--output"));
  return options;
}

Result<Report> RunWithProgress(const Command& command, RunOptions& options) {
  ProgressBar bar(command.raw);
  options.progress = bar.OfRun();
  return RunReport(options);
}

int WriteReport(const Command& command, const Report& report) {
  const std::string& path = command.raw.output;
  const auto write = [&](Sink& sink) { return WriteHtml(report.page, ReportTemplate(), sink); };
  if (path.empty()) {
    return WriteToOutput(write);
  }
  const Result<void> written = WriteFile(path, write);
  return written.ok() ? kDone : Fail(written.error().message);
}

}  // namespace

Result<Report> MakeReport(const Command& command) {
  BS_ASSIGN(RunOptions options, UnderstandReport(command.raw));
  BS_ASSIGN(Report report, RunWithProgress(command, options));
  ReportFiles(report.files, command.raw);
  if (ReportTemplate().empty() && !command.raw.quiet) {
    WriteMessage("borescope: plain tables without charts: this program was built without node\n");
  }
  return report;
}

int RunReportVerb(const Command& command) {
  if (const Result<void> checked = CheckOutput(command.raw); !checked.ok()) {
    return FailWith(checked.error(), command);
  }
  const Result<Report> report = MakeReport(command);
  return report.ok() ? std::max(StatusOf(report->files), WriteReport(command, *report))
                     : FailWith(report.error(), command);
}

}  // namespace borescope::internal::cli
