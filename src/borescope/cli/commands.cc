#include "borescope/cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "borescope/cli/answers.h"
#include "borescope/cli/help.h"
#include "borescope/cli/terminal.h"
#include "borescope/cli/understand.h"
#include "borescope/session/run_targets.h"

namespace borescope::cli {
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

void TalkAboutTargets(const std::vector<FileReport>& files) {
  for (const FileReport& file : files) {
    if (file.overlay.has_value()) {
      TalkLine(OverlayLine(*file.overlay));
    }
    if (!file.saved.empty()) {
      TalkLine(fmt::format("borescope: wrote {}: what --load answers from", file.saved));
    }
  }
}

// ---- Verbs ----

// The answer and what is written beside it are different files.
Result<void> CheckTargetPaths(const OutputOptions& output, const RunOptions& run) {
  for (const auto& [option, target] : TargetsOf(run)) {
    const bool is_table =
        output.writer->write_table != nullptr && IsFileOfTable(output.path, target);
    if (is_table || IsSameFile(output.path, target)) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("{}: --output and {} would both write it", target, option)};
    }
  }
  return {};
}

Result<void> CheckOutputPath(const OutputOptions& output, const RunOptions& run) {
  BS_TRY(CheckNoInput(InputPaths(run), output.path, *output.writer));
  std::error_code ignored;
  if (std::filesystem::is_directory(output.path, ignored)) {
    return Error{ErrorCode::kIo,
                 output.path + ": cannot write: it is a directory; name a file in it"};
  }
  return output.path.empty() ? Result<void>() : CheckTargetPaths(output, run);
}

Result<Answer> RunWithProgress(const Command& command, RunOptions& options) {
  ProgressBar bar(command.raw);
  options.progress = bar.OfRun();
  return RunAnalyses(command.analyses, options);
}

int RunAnalysisVerb(const Command& command) {
  const Result<OutputOptions> output = UnderstandOutput(command.raw, command.analyses);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  Result<RunOptions> options = Understand(command.analyses, command.raw);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  options->for_picture = output->writer->draws;
  if (const Result<void> checked = CheckOutputPath(*output, *options); !checked.ok()) {
    return FailWith(checked.error(), command);
  }
  const Result<Answer> answer = RunWithProgress(command, *options);
  if (!answer.ok()) {
    return FailWith(answer.error(), command);
  }
  TalkAboutFiles(answer->files, command.raw);
  if (!command.raw.quiet) {
    TalkAboutTargets(answer->files);
  }
  return std::max(StatusOf(answer->files),
                  WriteDocument(*output, answer->document, command.raw.quiet));
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
  if (!parsed->analyses.empty()) {
    return RunAnalysisVerb(*parsed);
  }
  return parsed->verb->run(*parsed);
}

}  // namespace borescope::cli
