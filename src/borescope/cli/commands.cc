#include "borescope/cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "borescope/base/version.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/help.h"
#include "borescope/cli/options/understand.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/engine/targets/targets.h"

namespace borescope::internal::cli {
namespace {

// ---- Talk about files ----

std::string OverlayLine(const OverlayReport& overlay) {
  std::vector<std::string> drawn;
  const auto add = [&](size_t count, std::string_view what) {
    if (count != 0) {
      drawn.push_back(fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"));
    }
  };
  add(overlay.counters, "counter");
  add(overlay.tracks, "track");
  add(overlay.arrows, "arrow");
  add(overlay.marked, "marked event");
  return fmt::format("borescope: wrote {}: {}{}", overlay.path,
                     drawn.empty() ? "nothing to draw" : fmt::format("{}", fmt::join(drawn, ", ")),
                     overlay.keeps_damage ? "; its text is as damaged as that of the source, and "
                                            "other tools may refuse it"
                                          : "");
}

void ReportTargets(const std::vector<FileReport>& files) {
  for (const FileReport& file : files) {
    if (file.overlay.has_value()) {
      WriteMessageLine(OverlayLine(*file.overlay));
    }
    if (!file.saved.empty()) {
      WriteMessageLine(fmt::format("borescope: wrote {}: what --load answers from", file.saved));
    }
  }
}

// ---- Verbs ----

// What of the output can be known to be wrong before anything is read.
Result<void> CheckOutputPath(const RunOptions& run, OutputOptions& output) {
  BS_TRY(ProtectInputs(InputPaths(run), output));
  std::error_code ignored;
  if (std::filesystem::is_directory(output.path, ignored)) {
    return Error{ErrorCode::kIo,
                 output.path + ": cannot write: it is a directory; name a file in it"};
  }
  return CheckNoTarget(run, {&output.path, 1});
}

// The rest, once it is known which tables there are: the files of the answer, and those beside it,
// are different files.
Result<void> CheckAnswer(const RunOptions& run, const OutputOptions& output,
                         const Document& document) {
  BS_TRY(CheckFiles(output, document));
  return output.path.empty()
             ? Result<void>()
             : CheckNoTarget(run, OutputPaths(*output.writer, document, output.path));
}

Result<Answer> RunWithProgress(const Command& command, RunOptions& options) {
  ProgressBar bar(command.raw);
  options.progress = bar.OfRun();
  return RunAnalyses(command.analyses, options);
}

int RunAnalysisVerb(const Command& command) {
  Result<OutputOptions> output = UnderstandOutput(command.raw, command.analyses);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  Result<RunOptions> options = Understand(command.analyses, command.raw);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  options->for_picture = output->writer->draws;
  if (const Result<void> checked = CheckOutputPath(*options, *output); !checked.ok()) {
    return FailWith(checked.error(), command);
  }
  options->accept = [&](const Document& answer) { return CheckAnswer(*options, *output, answer); };
  const Result<Answer> answer = RunWithProgress(command, *options);
  if (!answer.ok()) {
    return FailWith(answer.error(), command);
  }
  ReportFiles(answer->files, command.raw);
  if (!command.raw.quiet) {
    ReportTargets(answer->files);
  }
  return std::max(StatusOf(answer->files), WriteDocument(*output, answer->document, command));
}

int RunHelp(const Command& command) {
  std::string help;
  for (const AnalysisSpec* spec : command.analyses) {
    help += (help.empty() ? "" : "\n\n") + AnalysisHelp(*spec);
  }
  if (!help.empty()) {
    return Print(help);
  }
  return Print(command.verb != nullptr ? VerbHelp(*command.verb) : MainHelp());
}

}  // namespace

int RunCommandLine(std::span<const std::string> words) {
  const Result<Command> parsed = Parse(words);
  if (!parsed.ok()) {
    Command command;
    static_cast<void>(words.empty() ? false : SetVerb(words[0], command));
    return FailWith(parsed.error(), command);
  }
  if (parsed->version) {
    return Print(fmt::format("borescope {}\n", Version()));
  }
  if (parsed->raw.help) {
    return RunHelp(*parsed);
  }
  return parsed->verb != nullptr ? parsed->verb->run(*parsed) : RunAnalysisVerb(*parsed);
}

}  // namespace borescope::internal::cli
