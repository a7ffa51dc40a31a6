#include "borescope/bench_kernel.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"

namespace borescope::cli {
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

int RunBenchVerb(const Command& command) {
  Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  const Result<Answer> answer = Bench(command.raw, *output);
  return answer.ok() ? WriteAnswer(*output, *answer, command) : FailWith(answer.error(), command);
}

}  // namespace borescope::cli
