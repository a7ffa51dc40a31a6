#include "borescope/cli/commands/link_command.h"

#include <fmt/format.h>

#include <optional>

#include "borescope/base/text.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/options/understand.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/verbs/link/link_traces.h"

namespace borescope::internal::cli {
namespace {

Result<int64_t> ParseRank(const std::string& text) {
  const std::optional<int64_t> rank = ParseNumber<int64_t>(text);
  if (!rank.has_value() || *rank < 0) {
    return UsageError(fmt::format("--rank: '{}' is no rank; link reads one", text));
  }
  return *rank;
}

Result<LinkOptions> UnderstandLink(const RawOptions& raw) {
  if (!raw.inputs.empty()) {
    return UsageError(
        fmt::format("link takes no INPUT but --host and --device: '{}'", raw.inputs.front()));
  }
  if (!raw.compat.empty() && raw.compat != "chakra") {
    return UsageError(fmt::format("--compat: unknown tool '{}'; tools are chakra", raw.compat));
  }
  LinkOptions options;
  options.host = raw.host;
  options.device = raw.device;
  options.output = raw.output;
  options.as_chakra = !raw.compat.empty();
  if (!raw.rank.empty()) {
    BS_ASSIGN(options.rank, ParseRank(raw.rank));
  }
  if (!raw.threads.empty()) {
    BS_ASSIGN(options.threads, ParseThreads(raw.threads));
  }
  return options;
}

Result<Document> LinkWithProgress(const Command& command, LinkOptions& options) {
  ProgressBar bar(command.raw);
  options.progress = bar.OfFile();
  return RunLink(options);
}

}  // namespace

int RunLinkVerb(const Command& command) {
  const Result<OutputOptions> output = UnderstandStandardOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  Result<LinkOptions> options = UnderstandLink(command.raw);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  const Result<Document> answer = LinkWithProgress(command, *options);
  if (!answer.ok()) {
    return FailWith(answer.error(), command);
  }
  if (!command.raw.quiet) {
    WriteMessageLine(fmt::format("borescope: wrote {}", options->output));
  }
  return WriteDocument(*output, *answer, command);
}

}  // namespace borescope::internal::cli
