#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/output_options.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/scrubbing.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/partial.h"

namespace borescope::cli {
namespace {

Result<void> CheckMap(const Command& command) {
  if (command.analyses.empty()) {
    return UsageError("map needs verbs and an INPUT; name them: borescope map summary RUN -o PART");
  }
  const RawOptions& raw = command.raw;
  if (raw.output.empty() || raw.output == "-") {
    return UsageError("map writes a file for reduce; name it with -o");
  }
  if (!raw.format.empty() || !raw.Param("sort").empty() || !raw.Param("top").empty()) {
    return UsageError("map shows nothing; give --format, --sort and --top to reduce");
  }
  CLI_TRY(CheckInputs(raw));
  return CheckQuestion(NamesOf(command.analyses), raw.ToParams());
}

Result<Partial> MapWithProgress(const Command& command) {
  RawOptions raw = command.raw;
  ProgressBar bar(raw);
  CLI_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(raw, bar.Callback()));
  CLI_ASSIGN(const Run run,
             OpenRun(raw.load.empty() ? std::span(raw.inputs) : std::span(&raw.load, 1), raw,
                     bar.Callback()));
  return run.Map(NamesOf(command.analyses), raw.ToParams(), raw.output);
}

// Files that fail where all others do, too, are a part all the same: the answer says so.
Result<size_t> WritePart(const Command& command) {
  CLI_TRY(CheckMap(command));
  CLI_ASSIGN(const Partial partial, MapWithProgress(command));
  CLI_TRY(partial.Write(command.raw.output));
  return partial.num_files();
}

Result<Display> UnderstandReduce(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no PART; name the files that map wrote, or their folder");
  }
  Display display{raw.Param("sort"), {}};
  if (const std::string top = raw.Param("top"); !top.empty()) {
    CLI_ASSIGN(const int rows, ParseCount("top", top, 1'000'000'000));
    display.top = static_cast<size_t>(rows);
  }
  return display;
}

Result<Answer> ReduceParts(const RawOptions& raw, OutputOptions& output) {
  CLI_ASSIGN(const Display display, UnderstandReduce(raw));
  CLI_TRY(ProtectInputs(raw.inputs, output));
  CLI_ASSIGN(const std::vector<Partial> partials, ReadPartials(raw.inputs));
  return Reduce(partials, display);
}

}  // namespace

int RunMapVerb(const Command& command) {
  const Result<size_t> files = WritePart(command);
  if (!files.ok()) {
    return FailWith(files.error(), command);
  }
  if (!command.raw.quiet) {
    WriteMessageLine(fmt::format("borescope: wrote {}: {} file{}", command.raw.output, *files,
                                 *files == 1 ? "" : "s"));
  }
  return kDone;
}

int RunReduceVerb(const Command& command) {
  Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  const Result<Answer> answer = ReduceParts(command.raw, *output);
  if (!answer.ok()) {
    return FailWith(answer.error(), command);
  }
  ReportFiles(answer->files(), command.raw);
  return std::max(StatusOf(answer->files()), WriteAnswer(*output, *answer, command));
}

}  // namespace borescope::cli
