#include "borescope/bench_kernel.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
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

Result<int> RunBenchVerb(const Command& command) {
  BS_ASSIGN(OutputOptions output, UnderstandOutput(command.raw));
  BS_ASSIGN(const Answer answer, Bench(command.raw, output));
  BS_TRY(WriteAnswer(output, answer, command));
  return kDone;
}

}  // namespace borescope::cli
