#include <fmt/format.h>

#include <algorithm>

#include "borescope/check.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

// The words of an option that takes several.
std::vector<std::string> WordsOf(std::string_view joined) {
  std::vector<std::string> words;
  while (!joined.empty()) {
    const size_t end = std::min(joined.find('\n'), joined.size());
    if (end > 0) {
      words.emplace_back(joined.substr(0, end));
    }
    joined.remove_prefix(std::min(end + 1, joined.size()));
  }
  return words;
}

Result<void> CheckRuns(const RawOptions& raw) {
  if (raw.inputs.empty() && !(raw.Get("baseline") + raw.Get("history")).empty()) {
    return UsageError(
        "no INPUT; it comes before --baseline and --history, which take all words up to the next "
        "option");
  }
  BS_TRY(CheckInputs(raw));
  if (std::count(raw.inputs.begin(), raw.inputs.end(), "-") > 0) {
    return UsageError(
        "check asks several questions of a run, which standard input yields once; "
        "write it to a file");
  }
  return {};
}

// The runs of an option; another option in their place is none of them.
Result<std::vector<std::string>> RunsOf(std::string_view option, std::string_view joined) {
  std::vector<std::string> words = WordsOf(joined);
  if (std::any_of(words.begin(), words.end(),
                  [](const std::string& word) { return word.starts_with('-'); })) {
    return UsageError(fmt::format("--{} needs a value", option));
  }
  return words;
}

Result<CheckOptions> UnderstandCheck(const RawOptions& raw) {
  BS_TRY(CheckRuns(raw));
  CheckOptions options;
  options.budget = raw.Get("budget");
  BS_ASSIGN(options.baseline, RunsOf("baseline", raw.Get("baseline")));
  BS_ASSIGN(options.history, RunsOf("history", raw.Get("history")));
  if (!raw.Get("fail").empty()) {
    BS_ASSIGN(options.fail, ParseShare("fail", raw.Get("fail")));
  }
  options.force = raw.Has("force");
  options.strict = raw.Has("strict");
  options.save_baseline = raw.Get("save-baseline");
  options.junit = raw.Get("junit");
  options.sarif = raw.Get("sarif");
  options.markdown = raw.Get("markdown");
  options.html = raw.Get("html");
  options.all = raw.Has("all");
  options.question = QuestionOf("check", raw);
  if (!raw.Get("captures").empty()) {
    options.captures = {raw.Get("captures")};
  }
  BS_ASSIGN(options.threads, ParseThreads(raw.Get("threads")));
  BS_ASSIGN(options.memory_limit, KeepMemoryLimit(raw));
  return options;
}

// The answer is no file that is read or written besides.
Result<OutputOptions> UnderstandAnswer(const RawOptions& raw, const CheckOptions& options) {
  BS_ASSIGN(OutputOptions output, UnderstandOutput(raw, {}, true));
  std::vector<std::string> files = raw.inputs;
  files.insert(files.end(), options.baseline.begin(), options.baseline.end());
  files.insert(files.end(), options.history.begin(), options.history.end());
  for (const std::string* const path : {&options.budget, &options.save_baseline, &options.junit,
                                        &options.sarif, &options.markdown, &options.html}) {
    if (!path->empty()) {
      files.push_back(*path);
    }
  }
  BS_TRY(ProtectInputs(files, output));
  return output;
}

Result<CheckReport> CheckWithProgress(const RawOptions& raw, CheckOptions options) {
  ProgressBar bar(raw);
  options.progress = bar.Callback();
  return Check(raw.inputs, options);
}

int StatusOfCheck(CheckStatus status, bool strict) {
  switch (status) {
    case CheckStatus::kKept:
      return kDone;
    case CheckStatus::kBroken:
      return kCheckFailed;
    case CheckStatus::kCannotTell:
      return strict ? kCannotTell : kDone;
    case CheckStatus::kVoid:
      break;
  }
  return kFailed;
}

}  // namespace

Result<int> RunCheckVerb(const Command& command) {
  BS_ASSIGN(const CheckOptions options, UnderstandCheck(command.raw));
  BS_ASSIGN(const OutputOptions output, UnderstandAnswer(command.raw, options));
  BS_ASSIGN(const CheckReport report, CheckWithProgress(command.raw, options));
  ReportFiles(report.answer.files(), command.raw);
  // Runs of which a part could not be read are not what they are said to be.
  const int read = StatusOf(report.answer.files());
  BS_TRY(WriteAnswer(output, report.answer, command));
  return read != kDone ? kFailed : StatusOfCheck(report.status, options.strict);
}

}  // namespace borescope::cli
