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

// Adds what was typed of the parameters of these verbs.
Question WithParameters(Question question, Verbs verbs, const RawOptions& raw) {
  for (const auto& [name, text] : raw.values) {
    if (FindParameter(verbs, name) != nullptr) {
      question.Set(name, text);
    }
  }
  return question;
}

Result<Answer> AskOne(const Command& command, const Destination& destination,
                      const ProgressCallback& progress) {
  const RawOptions& raw = command.raw;
  const std::span<const std::string> inputs =
      raw.Has("load") ? std::span(&raw.Get("load"), 1) : std::span(raw.inputs);
  BS_ASSIGN(const Run run, OpenRun(inputs, raw, progress));
  return run.Ask(QuestionOf(command), destination);
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
  return base.Compare(test, QuestionOf(command), destination);
}

}  // namespace

Question QuestionOf(std::string_view verb, const RawOptions& raw) {
  const VerbInfo* const like[] = {FindVerb("summary")};
  Question question = WithParameters(verb, like, raw);
  if (verb == "report" && raw.Has("timeline")) {
    question.Set("timeline", raw.Get("timeline"));
  }
  return question;
}

Question QuestionOf(const Command& command) {
  if (!command.raw.whole.empty()) {
    return QuestionOf(command.raw.whole, command.raw);
  }
  const std::vector<std::string_view> names = NamesOf(command.analyses);
  return WithParameters(Question::Of({names.begin(), names.end()}), command.analyses, command.raw);
}

Result<Run> OpenRun(std::span<const std::string> inputs, const RawOptions& raw,
                    ProgressCallback progress, StopToken stop, uint64_t keep_bytes) {
  OpenOptions options;
  BS_ASSIGN(options.threads, ParseThreads(raw.Get("threads")));
  BS_ASSIGN(options.memory_limit, KeepMemoryLimit(raw));
  if (!raw.Get("captures").empty()) options.captures.push_back(raw.Get("captures"));
  if (!raw.Get("shard").empty()) {
    BS_ASSIGN(options.shard, ParseShard(raw.Get("shard")));
  }
  BS_ASSIGN(options.cache_bytes, ParseCacheSize(raw));
  options.cache = CacheFolder(raw);
  options.cache_is_optional = raw.Get("cache").empty();  // of the environment
  options.allow_missing = true;                          // reported with what else cannot be loaded
  options.keep_bytes = keep_bytes;
  options.saved = !raw.Get("load").empty();
  options.progress = std::move(progress);
  options.stop = std::move(stop);
  const std::vector<Source> sources(inputs.begin(), inputs.end());
  return Run::Open(sources, options);
}

Result<void> CheckInputs(const RawOptions& raw) {
  if (raw.inputs.empty() && raw.Get("load").empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  if (!raw.inputs.empty() && !raw.Get("load").empty()) {
    return UsageError("--load answers without a trace; leave out INPUT, or --load");
  }
  return {};
}

Result<Answer> AskQuestion(const Command& command, const OutputOptions& output) {
  BS_TRY(CheckInputs(command.raw));
  BS_TRY(CheckQuestion(QuestionOf(command)));
  ProgressBar bar(command.raw);
  Command asked = command;
  BS_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(asked.raw, bar.Callback()));
  const Destination destination{output.writer->name, output.path};
  const bool is_comparison = command.analyses.size() == 1 && command.analyses.front()->takes_two;
  return is_comparison ? AskTwo(asked, destination, bar.Callback())
                       : AskOne(asked, destination, bar.Callback());
}

}  // namespace borescope::cli
