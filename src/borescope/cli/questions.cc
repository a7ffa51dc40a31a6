#include "borescope/cli/questions.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "borescope/cli/cache.h"
#include "borescope/cli/memory.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/scrubbing.h"
#include "borescope/cli/terminal/terminal.h"

namespace borescope::cli {
namespace {

Result<Answer> AskOne(const Command& command, const Destination& destination,
                      const ProgressCallback& progress) {
  const RawOptions& raw = command.raw;
  const std::span<const std::string> inputs =
      raw.load.empty() ? std::span(raw.inputs) : std::span(&raw.load, 1);
  BS_ASSIGN(const Run run, OpenRun(inputs, raw, progress));
  return run.Ask(NamesOf(command.analyses), raw.ToParams(), destination);
}

Result<Answer> AskTwo(const Command& command, const Destination& destination,
                      const ProgressCallback& progress) {
  const RawOptions& raw = command.raw;
  const std::string& verb = command.analyses.front()->name;
  if (raw.inputs.size() != 2) {
    return UsageError(fmt::format("{} compares two runs; name two files or folders", verb));
  }
  BS_ASSIGN(const Run base, OpenRun({&raw.inputs[0], 1}, raw, progress));
  BS_ASSIGN(const Run test, OpenRun({&raw.inputs[1], 1}, raw, progress));
  return base.Compare(test, verb, raw.ToParams(), destination);
}

}  // namespace

Result<Run> OpenRun(std::span<const std::string> inputs, const RawOptions& raw,
                    ProgressCallback progress, StopToken stop, uint64_t keep_bytes) {
  OpenOptions options;
  BS_ASSIGN(options.threads, ParseThreads(raw.threads));
  BS_ASSIGN(options.memory_limit, KeepMemoryLimit(raw));
  if (!raw.captures.empty()) options.captures.push_back(raw.captures);
  if (!raw.shard.empty()) {
    BS_ASSIGN(options.shard, ParseShard(raw.shard));
  }
  BS_ASSIGN(options.cache_bytes, ParseCacheSize(raw));
  options.cache = CacheFolder(raw);
  options.cache_is_optional = raw.cache.empty();  // of the environment
  options.allow_missing = true;                   // reported with what else cannot be loaded
  options.keep_bytes = keep_bytes;
  options.saved = !raw.load.empty();
  options.progress = std::move(progress);
  options.stop = std::move(stop);
  const std::vector<Source> sources(inputs.begin(), inputs.end());
  return Run::Open(sources, options);
}

Result<void> CheckInputs(const RawOptions& raw) {
  if (raw.inputs.empty() && raw.load.empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  if (!raw.inputs.empty() && !raw.load.empty()) {
    return UsageError("--load answers without a trace; leave out INPUT, or --load");
  }
  return {};
}

Result<Answer> AskQuestion(const Command& command, const OutputOptions& output) {
  BS_TRY(CheckInputs(command.raw));
  BS_TRY(CheckQuestion(NamesOf(command.analyses), command.raw.ToParams()));
  ProgressBar bar(command.raw);
  Command asked = command;
  BS_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(asked.raw, bar.Callback()));
  const Destination destination{output.writer->name, output.path};
  const bool is_comparison = command.analyses.size() == 1 && command.analyses.front()->takes_two;
  return is_comparison ? AskTwo(asked, destination, bar.Callback())
                       : AskOne(asked, destination, bar.Callback());
}

}  // namespace borescope::cli
