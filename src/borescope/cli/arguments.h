// From the words of a command line to what they mean, in two stages: which verb and which raw
// options (Parse), then what the options of an analysis ask for (Understand). Every error is about
// usage (kInvalidArgument) and one line. Pure but for looking whether an input exists.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/cli/options.h"
#include "borescope/cli/output_options.h"

namespace borescope::cli {

struct Command {
  std::vector<const AnalysisSpec*> analyses;  // "idle,overlap" are two; or
  const VerbRow* verb = nullptr;              // or neither: --help or --version alone
  bool version = false;
  RawOptions raw;
};

// `words` without the program name. Without any word: an error.
Result<Command> Parse(std::span<const std::string> words);

// Sets the verb called `name`, or the analyses it lists; false when there is none.
bool SetVerb(std::string_view name, Command& command);

// REQUIRES: `raw` belongs to these analyses. Expands the inputs.
Result<RunOptions> Understand(Specs specs, const RawOptions& raw);

// The value of --threads.
Result<int> ParseThreads(const std::string& text);
// "0,3" or "2..5", the value of `option`; empty text: all.
Result<NumberRanges> ParseRanges(std::string_view option, const std::string& text);
// A number of `smallest` to `largest`, the value of `option`.
Result<int> ParseCount(std::string_view option, const std::string& text, int largest,
                       int smallest = 1);

// "8G", "1.5GB", "512MiB", "1000000": bytes. K, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024.
Result<uint64_t> ParseSize(std::string_view text);

}  // namespace borescope::cli
