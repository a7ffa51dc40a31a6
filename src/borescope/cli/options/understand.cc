#include "borescope/cli/options/understand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "borescope/base/text.h"
#include "borescope/cli/options/arguments.h"

namespace borescope::internal::cli {
namespace {

// The two inputs of a comparison.
Result<void> FindTwo(const AnalysisSpec& spec, const RawOptions& raw, RunOptions& options) {
  if (raw.inputs.size() != 2) {
    return UsageError(fmt::format("{} compares two runs; name two files or folders", spec.name));
  }
  BS_ASSIGN(options.files, ExpandInputs({&raw.inputs[0], 1}));
  BS_ASSIGN(options.test.files, ExpandInputs({&raw.inputs[1], 1}));
  return {};
}

}  // namespace

Result<RunOptions> Understand(Specs specs, const RawOptions& raw) {
  RunOptions options;
  if (raw.inputs.empty() && raw.load.empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  if (!raw.inputs.empty() && !raw.load.empty()) {
    return UsageError("--load answers without a trace; leave out INPUT, or --load");
  }
  BS_TRY(ReadQuestion(specs, raw, options));
  options.load = !raw.load.empty();
  if (!raw.threads.empty()) {
    BS_ASSIGN(options.threads, ParseThreads(raw.threads));
  }
  if (!raw.memory_limit.empty()) {
    BS_ASSIGN(options.memory_limit, ParseSize(raw.memory_limit));
  }
  if (specs.front()->takes_two()) {
    BS_TRY(FindTwo(*specs.front(), raw, options));
    return options;
  }
  BS_ASSIGN(options.files, options.load ? ExpandInputs({&raw.load, 1}) : ExpandInputs(raw.inputs));
  return options;
}

Result<int> ParseThreads(const std::string& text) { return ParseCount("threads", text, 1024); }

Result<uint64_t> ParseSize(std::string_view text) {
  constexpr std::string_view kPrefixes = "KMGT";
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  std::string_view suffix(end);
  double factor = 1;
  const size_t prefix = suffix.empty() ? std::string_view::npos : kPrefixes.find(suffix.front());
  if (prefix != std::string_view::npos) {
    suffix.remove_prefix(1);
    const bool binary = suffix.starts_with('i');
    suffix.remove_prefix(binary ? 1 : 0);
    factor = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(prefix + 1));
  }
  constexpr double kLargest = 1e18;
  const bool good = end != copy.c_str() && (suffix.empty() || suffix == "B");
  if (!good || !(number * factor >= 1) || number * factor > kLargest) {
    return UsageError(
        fmt::format("--memory-limit: '{}' is no size; write 8G, 512MiB or bytes", text));
  }
  return static_cast<uint64_t>(number * factor);
}

}  // namespace borescope::internal::cli
