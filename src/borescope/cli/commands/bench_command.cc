#include "borescope/cli/commands/bench_command.h"

#include "borescope/cli/answers.h"
#include "borescope/cli/options/understand.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/verbs/bench_kernel/bench_kernel.h"

namespace borescope::internal::cli {
namespace {

// What is read stays as it is, whatever is written.
Result<void> ProtectFiles(const BenchOptions& options, OutputOptions& output) {
  const std::string words[] = {options.file, options.trace};
  return ProtectInputs(PathsBehind(words), output);
}

Result<BenchOptions> UnderstandBench(const RawOptions& raw, OutputOptions& output) {
  constexpr int kLongestSeconds = 86'400;
  if (raw.inputs.size() != 1) {
    return Error{ErrorCode::kInvalidArgument,
                 "bench-kernel runs one file that TorchInductor generated; name it"};
  }
  BenchOptions options{.file = raw.inputs.front(), .trace = raw.trace};
  if (!raw.python.empty()) {
    options.python = raw.python;
  }
  if (!raw.timeout.empty()) {
    BS_ASSIGN(const int seconds, ParseCount("timeout", raw.timeout, kLongestSeconds));
    options.timeout = std::chrono::seconds(seconds);
  }
  BS_TRY(ProtectFiles(options, output));
  return options;
}

}  // namespace

int RunBenchVerb(const Command& command) {
  Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  const Result<BenchOptions> options = UnderstandBench(command.raw, *output);
  if (!options.ok()) {
    return FailWith(options.error(), command);
  }
  const Result<Document> document = BenchKernel(*options);
  return document.ok() ? WriteDocument(*output, *document, command)
                       : FailWith(document.error(), command);
}

}  // namespace borescope::internal::cli
