#include <fmt/format.h>

#include <string>
#include <vector>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/postmortem.h"

namespace borescope::cli {
namespace {

Result<PostmortemOptions> UnderstandPostmortem(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no FOLDER; name the folder that holds the files of the job");
  }
  PostmortemOptions options;
  constexpr int kMostRanks = 1 << 20;
  if (!raw.Get("world").empty()) {
    BS_ASSIGN(options.world, ParseCount("world", raw.Get("world"), kMostRanks));
  }
  if (const std::string& top = raw.Get("top"); !top.empty()) {
    BS_ASSIGN(const int rows, ParseTop(top));
    options.top = static_cast<size_t>(rows);
  }
  const std::string& fail_on = raw.Get("fail-on");
  if (!fail_on.empty() && fail_on != "found" && fail_on != "unclear") {
    return UsageError(fmt::format("--fail-on: '{}' is neither found nor unclear", fail_on));
  }
  options.skip_frames = raw.Get("skip-frames");
  options.limit = raw.Get("limit");
  if (!raw.Get("fix-time").empty()) {
    constexpr int kMostSeconds = 86'400;
    BS_ASSIGN(options.fix_time, ParseCount("fix-time", raw.Get("fix-time"), kMostSeconds));
  }
  options.html = raw.Get("html");
  options.rank = raw.Get("rank");
  options.sort = raw.Get("sort");
  BS_ASSIGN(options.scrub, ParseScrub(raw));
  BS_ASSIGN(options.threads, ParseThreads(raw.Get("threads")));
  BS_ASSIGN(options.memory_limit, KeepMemoryLimit(raw));
  return options;
}

Result<PostmortemReport> Examine(const RawOptions& raw, OutputOptions& output) {
  BS_ASSIGN(PostmortemOptions options, UnderstandPostmortem(raw));
  std::vector<std::string> files = raw.inputs;
  if (!options.html.empty()) files.push_back(options.html);
  BS_TRY(ProtectInputs(files, output));
  ProgressBar bar(raw);
  options.progress = bar.Callback();
  return Postmortem(raw.inputs, options);
}

}  // namespace

Result<int> RunPostmortemVerb(const Command& command) {
  BS_ASSIGN(OutputOptions output, UnderstandOutput(command.raw));
  BS_ASSIGN(const PostmortemReport report, Examine(command.raw, output));
  BS_TRY(WriteAnswer(output, report.answer, command));
  if (report.has_failed) {
    return kFailed;
  }
  const std::string& fail_on = command.raw.Get("fail-on");
  const bool fails =
      (fail_on == "found" && report.has_cause) || (fail_on == "unclear" && report.is_unclear);
  return fails ? kCheckFailed : kDone;
}

}  // namespace borescope::cli
