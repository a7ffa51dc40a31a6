#include "borescope/cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "borescope/cli/answers.h"
#include "borescope/cli/help.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/output.h"
#include "borescope/version.h"

namespace borescope::cli {
namespace {

std::string OverlayLine(const OverlayInfo& overlay, bool is_scrubbed) {
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
  return fmt::format("borescope: wrote {}: {}{}{}", overlay.path,
                     drawn.empty() ? "nothing to draw" : fmt::format("{}", fmt::join(drawn, ", ")),
                     overlay.keeps_damage ? "; its text is as damaged as that of the source, and "
                                            "other tools may refuse it"
                                          : "",
                     is_scrubbed ? "" : "; it copies all that the source holds: see --scrub");
}

void ReportTargets(const std::vector<FileInfo>& files, bool is_scrubbed) {
  for (const FileInfo& file : files) {
    if (file.overlay.has_value()) {
      WriteMessageLine(OverlayLine(*file.overlay, is_scrubbed));
    }
    if (!file.saved.empty()) {
      WriteMessageLine(fmt::format("borescope: wrote {}: what --load answers from", file.saved));
    }
  }
}

Result<int> RunAnalysisVerb(const Command& command) {
  BS_ASSIGN(const OutputOptions output, UnderstandOutput(command.raw, command.analyses));
  BS_TRY(output.path.empty() ? CheckStandardOutput(command.raw, command.analyses) : Result<void>());
  BS_ASSIGN(const Answer answer, AskQuestion(command, output));
  ReportFiles(answer.files(), command.raw);
  if (!command.raw.Has("quiet")) {
    ReportTargets(answer.files(), !command.raw.Get("scrub").empty());
  }
  BS_TRY(WriteAnswer(output, answer, command));
  return StatusOf(answer.files());
}

int RunHelp(const Command& command) {
  const HelpExtent extent =
      command.raw.Has("help-all") ? HelpExtent::kAll : HelpExtent::kTwoScreens;
  std::string help;
  for (const VerbInfo* verb : command.analyses) {
    help += (help.empty() ? "" : "\n\n") + AnalysisHelp(*verb, extent);
  }
  if (!help.empty()) {
    return Print(help);
  }
  return Print(command.verb != nullptr ? VerbHelp(*command.verb, extent) : MainHelp());
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
  if (parsed->raw.Has("help") || parsed->raw.Has("help-all")) {
    return RunHelp(*parsed);
  }
  // A signal leaves nothing half written behind. `open` and `record` have handlers of their own.
  std::optional<Interrupts> interrupts;
  const std::string_view name = parsed->verb == nullptr ? "" : parsed->verb->name;
  if (name != "open" && name != "record") {
    interrupts.emplace(UndoUnfinished);
  }
  const Result<int> status =
      parsed->verb != nullptr ? parsed->verb->run(*parsed) : RunAnalysisVerb(*parsed);
  return status.ok() ? *status : FailWith(status.error(), *parsed);
}

}  // namespace borescope::cli
