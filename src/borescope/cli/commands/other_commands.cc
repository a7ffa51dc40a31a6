#include <fmt/format.h>

#include <limits>
#include <string>

#include "borescope/bench_kernel.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/completion.h"
#include "borescope/cli/launch/understand_launch.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/link.h"

namespace borescope::cli {

namespace {

Answer WhatThereIs() {
  ListedColumn kind{"kind", "Verb, input format, writer of tables or target of convert.", true, {}};
  ListedColumn name{"name", "Name on the command line.", true, {}};
  ListedColumn summary{"summary", "What it is for.", false, {}};
  const auto add = [&](std::string_view what, const auto& rows) {
    for (const auto& row : rows) {
      kind.cells.emplace_back(what);
      name.cells.emplace_back(row.name);
      summary.cells.emplace_back(row.summary);
    }
  };
  const Schema& schema = Describe();
  add("verb", schema.verbs);
  add("verb", OtherVerbs());
  add("format", schema.formats);
  add("writer", schema.writers);
  add("target", schema.targets);
  const ListedTable table{
      "list", "What there is", {std::move(kind), std::move(name), std::move(summary)}};
  return Answer::OfTexts({&table, 1});
}

}  // namespace

Result<int> RunListVerb(const Command& command) {
  if (!command.raw.inputs.empty()) {
    return UsageError("list takes no INPUT");
  }
  BS_ASSIGN(const OutputOptions output, UnderstandOutput(command.raw));
  BS_TRY(WriteAnswer(output, command.raw.Has("schema") ? SchemaTables() : WhatThereIs(), command));
  return kDone;
}

Result<int> RunCompletionVerb(const Command& command) {
  if (!command.raw.Get("format").empty() || !command.raw.Get("output").empty()) {
    return UsageError("completion prints a script; redirect it with > FILE");
  }
  const bool one = command.raw.inputs.size() == 1;
  BS_ASSIGN(const std::string script, CompletionScript(one ? command.raw.inputs[0] : ""));
  return Print(script);
}

namespace {

Result<BenchKernelOptions> UnderstandBench(const RawOptions& raw) {
  constexpr int kLongestSeconds = 86'400;
  if (raw.inputs.size() != 1) {
    return UsageError("bench-kernel runs one file that TorchInductor generated; name it");
  }
  BenchKernelOptions options{.trace = raw.Get("trace")};
  if (!raw.Get("python").empty()) {
    options.python = raw.Get("python");
  }
  if (!raw.Get("timeout").empty()) {
    BS_ASSIGN(const int seconds, ParseCount("timeout", raw.Get("timeout"), kLongestSeconds));
    options.timeout = std::chrono::seconds(seconds);
  }
  return options;
}

Result<Answer> Bench(const RawOptions& raw, OutputOptions& output) {
  BS_ASSIGN(const BenchKernelOptions options, UnderstandBench(raw));
  const std::string read[] = {raw.inputs.front(), options.trace};
  BS_TRY(ProtectInputs(read, output));
  return BenchKernel(raw.inputs.front(), options);
}

}  // namespace

Result<int> RunBenchVerb(const Command& command) {
  BS_ASSIGN(OutputOptions output, UnderstandOutput(command.raw));
  BS_ASSIGN(const Answer answer, Bench(command.raw, output));
  BS_TRY(WriteAnswer(output, answer, command));
  return kDone;
}

namespace {

Result<std::string> SlurmText(const Command& command) {
  BS_ASSIGN(const SlurmOptions options, UnderstandSlurm(command.raw));
  BS_ASSIGN(const LaunchJob job, UnderstandLaunch(command));
  return SlurmScript(job, options);
}

Result<std::string> KubernetesText(const Command& command) {
  constexpr uint64_t kUsualMebibytes = 2048;
  BS_ASSIGN(const KubernetesOptions options, UnderstandKubernetes(command.raw));
  BS_ASSIGN(LaunchJob job, UnderstandLaunch(command));
  if (job.mebibytes == 0) {
    job.mebibytes = kUsualMebibytes;
  }
  return KubernetesJobs(job, options);
}

}  // namespace

Result<int> RunLaunchVerb(const Command& command) {
  if (command.task.empty()) {
    return UsageError("launch: for what? borescope launch slurm|k8s VERB[,VERB...] RUN -o DIR");
  }
  BS_ASSIGN(const std::string text,
            command.task == "slurm" ? SlurmText(command) : KubernetesText(command));
  return Print(text);
}

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
