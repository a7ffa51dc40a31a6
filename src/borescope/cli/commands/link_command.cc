#include <fmt/format.h>

#include <limits>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/link.h"

namespace borescope::cli {
namespace {

Result<int64_t> ParseRank(const std::string& text) {
  const Result<int64_t> rank = ParseWithin("rank", text, 0, std::numeric_limits<int64_t>::max());
  return rank.ok() ? rank
                   : UsageError(fmt::format("--rank: '{}' is no rank; link reads one", text));
}

Result<LinkOptions> UnderstandLink(const RawOptions& raw) {
  if (!raw.inputs.empty()) {
    return UsageError(
        fmt::format("link takes no INPUT but --host and --device: '{}'", raw.inputs.front()));
  }
  const std::string& compat = raw.Get("compat");
  if (!compat.empty() && compat != "chakra") {
    return UsageError(fmt::format("--compat: unknown tool '{}'; tools are chakra", compat));
  }
  LinkOptions options;
  options.as_chakra = !compat.empty();
  if (const std::string& rank = raw.Get("rank"); !rank.empty()) {
    BS_ASSIGN(options.rank, ParseRank(rank));
  }
  BS_ASSIGN(options.threads, ParseThreads(raw.Get("threads")));
  BS_TRY(KeepMemoryLimit(raw));
  return options;
}

Result<Answer> LinkWithProgress(const RawOptions& raw) {
  BS_ASSIGN(LinkOptions options, UnderstandLink(raw));
  ProgressBar bar(raw);
  options.progress = bar.Callback();
  return Link(raw.Get("host"), raw.Get("device"), raw.Get("output"), options);
}

}  // namespace

Result<int> RunLinkVerb(const Command& command) {
  BS_ASSIGN(const OutputOptions output, UnderstandStandardOutput(command.raw));
  BS_ASSIGN(const Answer answer, LinkWithProgress(command.raw));
  if (!command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: wrote {}", command.raw.Get("output")));
  }
  BS_TRY(WriteAnswer(output, answer, command));
  return kDone;
}

}  // namespace borescope::cli
