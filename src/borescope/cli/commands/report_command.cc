#include "borescope/cli/commands/report_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/schema.h"

namespace borescope::cli {
namespace {

// Without -o the page is left out where another form is asked for.
bool WantsPage(const RawOptions& raw) {
  return !raw.Get("output").empty() || (raw.Get("card").empty() && raw.Get("markdown").empty());
}

// A file with another ending is a recording or the answer of another verb, which the page would
// replace.
Result<void> CheckNameOfPage(const std::string& path) {
  const bool is_compressed = path.ends_with(".gz") || path.ends_with(".zst");
  return !is_compressed && FormatOf(path) == "text"
             ? Result<void>()
             : UsageError(fmt::format(
                   "--output {}: report writes HTML; name the file of its page, as -o report.html",
                   path));
}

Result<void> CheckPage(const RawOptions& raw) {
  if (!raw.Get("format").empty()) {
    return UsageError("report writes HTML; for tables in other formats ask the verbs themselves");
  }
  if (raw.Get("output") == kStandardOutput && raw.Get("markdown") == kStandardOutput) {
    return UsageError("-o - and --markdown - are one standard output; name a file for one");
  }
  if (WantsPage(raw) && raw.Get("output").empty() && isatty(STDOUT_FILENO) != 0) {
    return UsageError("report writes a page for a browser; name its file with -o report.html");
  }
  return CheckNameOfPage(raw.Get("output"));
}

// What the page is made by: of a run, with a question, and the run it is compared with, if any.
template <class T>
using Maker =
    std::function<Result<T>(const Run& run, const Question& question, const Run* against)>;

// --against is a run of its own, with the same options.
template <class T>
Result<T> MakeWithProgress(const Command& command, uint64_t keep_bytes, const Maker<T>& make) {
  RawOptions raw = command.raw;
  BS_TRY(CheckInputs(raw));
  BS_TRY(CheckQuestion(QuestionOf("report", raw)));
  ProgressBar bar(raw);
  BS_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(raw, bar.Callback()));
  BS_ASSIGN(const Run run, OpenRun(raw.inputs, raw, bar.Callback(), {}, keep_bytes));
  if (raw.Get("against").empty()) {
    return make(run, QuestionOf("report", raw), nullptr);
  }
  BS_ASSIGN(const Run against, OpenRun({&raw.Get("against"), 1}, raw, {}));
  return make(run, QuestionOf("report", raw), &against);
}

Result<std::vector<FileInfo>> WriteWithProgress(const Command& command,
                                                const ReportOutputs& outputs) {
  return MakeWithProgress<std::vector<FileInfo>>(
      command, 0, [&](const Run& run, const Question& question, const Run* against) {
        return run.WriteReport(outputs, question, against);
      });
}

// For finer detail of a page that is served: no more than half of what may be used.
Result<uint64_t> BytesToKeep(const RawOptions& raw) {
  constexpr uint64_t kMost = uint64_t{2} << 30;
  BS_ASSIGN(const uint64_t limit, KeepMemoryLimit(raw));
  return limit == 0 ? kMost : std::min(kMost, limit / 2);
}

void SayWithoutCharts(const RawOptions& raw) {
  if (!HasReportCharts() && !raw.Has("quiet")) {
    WriteMessage("borescope: plain tables without charts: this program was built without node\n");
  }
}

// Writes the report of partials, which hold what was selected.
Result<std::vector<FileInfo>> WriteOfParts(const RawOptions& raw, const ReportOutputs& outputs) {
  Question question = QuestionOf("report", raw);
  const bool selects =
      std::any_of(question.entries().begin(), question.entries().end(),
                  [](const Question::Entry& given) { return given.first != "top"; });
  if (selects || raw.Has("against") || raw.Has("scrub") || raw.Has("captures") ||
      raw.Has("counters")) {
    return UsageError(
        "a report of parts has what they were mapped with; give selections and --scrub "
        "to borescope map report, and compare runs with --against where their "
        "recordings are");
  }
  ReduceOptions options;
  if (const std::string& top = raw.Get("top"); !top.empty()) {
    BS_ASSIGN(const int rows, ParseTop(top));
    options.display.top = static_cast<size_t>(rows);
  }
  BS_ASSIGN(const FoundParts found, FindParts(raw.inputs));
  ReportPassedOver(found, raw);
  return WriteReportOf(found.parts, outputs, options);
}

// Where no library draws pixels the card is an SVG beside the place of the PNG: said even with -q,
// as it is another file than the one that was asked for.
std::string CardOf(const RawOptions& raw) {
  constexpr std::string_view kPng = ".png";
  std::string card = raw.Get("card");
  if (!card.ends_with(kPng)) {
    return card;
  }
  const Result<std::string> why = WhyUnwritable("png");
  if (!why.ok() || why->empty()) {
    return card;
  }
  card.replace(card.size() - kPng.size(), kPng.size(), ".svg");
  WriteMessage(
      fmt::format("borescope: the card is written as {}: pictures cannot be PNG here, as "
                  "librsvg is missing (Debian: librsvg2-2)\n",
                  card));
  return card;
}

// "-" is standard output, which `output` writes to, and so is no file for the page alone.
ReportOutputs OutputsOf(const RawOptions& raw, const Output& output) {
  ReportOutputs outputs;
  if (WantsPage(raw)) {
    outputs.page = raw.Get("output").empty() || raw.Get("output") == kStandardOutput
                       ? output
                       : Output(raw.Get("output"));
  }
  outputs.card = CardOf(raw);
  if (!raw.Get("markdown").empty()) {
    outputs.markdown =
        raw.Get("markdown") == kStandardOutput ? output : Output(raw.Get("markdown"));
  }
  return outputs;
}

}  // namespace

Result<std::vector<FileInfo>> WriteReport(const Command& command, const ReportOutputs& outputs) {
  BS_ASSIGN(const bool holds_parts, HoldParts(command.raw.inputs));
  BS_ASSIGN(std::vector<FileInfo> files,
            holds_parts ? WriteOfParts(command.raw, outputs) : WriteWithProgress(command, outputs));
  ReportFiles(files, command.raw);
  if (outputs.page.has_value()) {
    SayWithoutCharts(command.raw);
  }
  return files;
}

Result<ServedReport> MakeReport(const Command& command) {
  BS_ASSIGN(const bool holds_parts, HoldParts(command.raw.inputs));
  if (holds_parts) {
    ServedReport report;
    ReportOutputs outputs;
    outputs.page = Output::To([&](std::string_view bytes) -> Result<void> {
      report.html += bytes;
      return {};
    });
    BS_ASSIGN(report.files, WriteReport(command, outputs));
    return report;
  }
  BS_ASSIGN(const uint64_t keep_bytes, BytesToKeep(command.raw));
  BS_ASSIGN(ServedReport report,
            MakeWithProgress<ServedReport>(command, keep_bytes, MakeServedReport));
  ReportFiles(report.files, command.raw);
  SayWithoutCharts(command.raw);
  return report;
}

Result<ServedReport> MakeReportOf(const Command& command, const std::vector<std::string>& paths,
                                  const StopToken& stop) {
  const RawOptions& raw = command.raw;
  BS_TRY(CheckQuestion(QuestionOf("report", raw)));
  BS_ASSIGN(const Run all, OpenRun(raw.inputs, raw, {}, stop));
  const std::vector<std::string> names = all.paths();
  std::vector<size_t> chosen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(paths.begin(), paths.end(), names[i]) != paths.end()) chosen.push_back(i);
  }
  BS_ASSIGN(const uint64_t keep_bytes, BytesToKeep(raw));
  BS_ASSIGN(const Run some, all.Only(chosen, keep_bytes));
  if (raw.Get("against").empty()) {
    return MakeServedReport(some, QuestionOf("report", raw));
  }
  BS_ASSIGN(const Run against, OpenRun({&raw.Get("against"), 1}, raw, {}, stop));
  return MakeServedReport(some, QuestionOf("report", raw), &against);
}

Result<int> RunReportVerb(const Command& command) {
  BS_TRY(CheckPage(command.raw));
  BS_TRY(CheckStandardOutput(command.raw, {}));
  int read = kDone;
  const auto write = [&](const Output& output) -> Result<void> {
    BS_ASSIGN(const std::vector<FileInfo> files,
              WriteReport(command, OutputsOf(command.raw, output)));
    read = StatusOf(files);
    return {};
  };
  BS_TRY(WriteToOutput(write));
  return read;
}

}  // namespace borescope::cli
