#include "borescope/cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "borescope/base/check.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/bench_command.h"
#include "borescope/cli/chakra_command.h"
#include "borescope/cli/completion.h"
#include "borescope/cli/convert_command.h"
#include "borescope/cli/help.h"
#include "borescope/cli/link_command.h"
#include "borescope/cli/open_command.h"
#include "borescope/cli/query_command.h"
#include "borescope/cli/report_command.h"
#include "borescope/cli/terminal.h"
#include "borescope/run_convert.h"
#include "borescope/run_targets.h"
#include "borescope/table/table.h"

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

// Whether `path` is what a table would be called beside `output`, which holds one table per file.
bool IsFileOfTable(const std::string& output, const std::string& path) {
  const std::filesystem::path whole(output);
  const std::filesystem::path other(path);
  const std::string extension = whole.extension().string();
  const std::string name = other.filename().string();
  const std::string start = whole.stem().string() + ".";
  if (!name.starts_with(start) || !name.ends_with(extension) ||
      name.size() <= start.size() + extension.size()) {
    return false;
  }
  const std::string table =
      name.substr(start.size(), name.size() - start.size() - extension.size());
  return table != "json" && table.find('.') == std::string::npos &&
         IsSameFile((whole.parent_path() / name).string(), path);
}

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
  const bool is_input = IsAmong(run.files, output.path) || IsAmong(run.test.files, output.path);
  if (!output.path.empty() && is_input) {
    return Error{ErrorCode::kInvalidArgument,
                 output.path + ": is an input; --output would overwrite it"};
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(output.path, ignored)) {
    return Error{ErrorCode::kIo,
                 output.path + ": cannot write: it is a directory; name a file in it"};
  }
  return output.path.empty() ? Result<void>() : CheckTargetPaths(output, run);
}

Result<Answer> RunWithProgress(const Command& command, RunOptions& options) {
  std::optional<ProgressBar> bar;
  if (ErrorIsTerminal() && !command.raw.quiet && !command.raw.no_progress) {
    bar.emplace();
    options.progress = [&](const Progress& progress) { bar->Show(progress); };
  }
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
  TalkAboutFiles(answer->files, command.raw.verbose && !command.raw.quiet);
  if (!command.raw.quiet) {
    TalkAboutTargets(answer->files);
  }
  return std::max(StatusOf(answer->files),
                  WriteDocument(*output, answer->document, command.raw.quiet));
}

Table ListTable() {
  Table table{"list", "What there is", {}};
  table.columns.reserve(3);  // keeps the references below valid
  Column& kind = AddString(table, "kind", Role::kKey,
                           "Verb, input format, writer of tables or target of convert.");
  Column& name = AddString(table, "name", Role::kKey, "Name on the command line.");
  Column& summary = AddString(table, "summary", Role::kDerived, "What it is for.");
  const auto add = [&](std::string_view what, const auto& row) {
    Push(kind, what);
    Push(name, row.name);
    Push(summary, row.summary);
  };
  for (const AnalysisSpec& row : Analyses()) {
    add("verb", row);
  }
  for (const VerbRow& row : OtherVerbs()) {
    add("verb", row);
  }
  for (const FormatRow& row : Formats()) {
    add("format", row);
  }
  for (const TableWriter& row : TableWriters()) {
    add("writer", row);
  }
  for (const ConvertFormat& row : ConvertFormats()) {
    add("target", row);
  }
  return table;
}

int RunList(const Command& command) {
  if (!command.raw.inputs.empty()) {
    return FailWith({ErrorCode::kInvalidArgument, "list takes no INPUT"}, command);
  }
  const Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  return WriteDocument(*output, {{ListTable()}, {}}, command.raw.quiet);
}

int RunCompletion(const Command& command) {
  if (!command.raw.format.empty() || !command.raw.output.empty()) {
    return FailWith(UsageError("completion prints a script; redirect it with > FILE"), command);
  }
  const bool one = command.raw.inputs.size() == 1;
  const Result<std::string> script = CompletionScript(one ? command.raw.inputs[0] : "");
  return script.ok() ? Print(*script) : FailWith(script.error(), command);
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

// What the verbs do that are no analyses; one row for each of OtherVerbs().
struct RunnerRow {
  std::string_view verb;
  int (*run)(const Command& command);
};
constexpr RunnerRow kRunners[] = {
    {"report", RunReportVerb},      {"open", RunOpenVerb},     {"convert", RunConvertVerb},
    {"link", RunLinkVerb},          {"chakra", RunChakraVerb}, {"query", RunQuery},
    {"bench-kernel", RunBenchVerb}, {"list", RunList},         {"completion", RunCompletion},
};

int (*RunnerOf(const VerbRow& verb))(const Command&) {
  const auto row = std::find_if(std::begin(kRunners), std::end(kRunners),
                                [&](const RunnerRow& runner) { return runner.verb == verb.name; });
  BS_CHECK(row != std::end(kRunners));
  return row->run;
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
  return RunnerOf(*parsed->verb)(*parsed);
}

}  // namespace borescope::cli
