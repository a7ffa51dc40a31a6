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

Result<Compat> ParseCompat(const std::string& name) {
  if (name.empty()) {
    return Compat::kNone;
  }
  std::vector<std::string_view> names;
  for (const CompatRow& tool : kCompats) {
    if (tool.name == name) {
      return tool.id;
    }
    names.push_back(tool.name);
  }
  return UsageError(
      fmt::format("--compat: unknown tool '{}'; tools are {}", name, fmt::join(names, ", ")));
}

Result<Params> UnderstandParams(Specs specs, const RawOptions& raw) {
  Params params;
  BS_ASSIGN(params.selection.steps, ParseRanges("step", raw.step));
  BS_ASSIGN(params.selection.gpus, ParseRanges("gpu", raw.gpu));
  BS_ASSIGN(params.selection.streams, ParseRanges("stream", raw.stream));
  BS_ASSIGN(params.selection.instances, ParseRanges("instance", raw.instance));
  params.selection.annotation = raw.annotation;
  BS_ASSIGN(params.selection.range, TimeRange::Parse(raw.begin, raw.end));
  if (!raw.instance.empty() && raw.annotation.empty()) {
    return UsageError("--instance counts occurrences of an annotation; name it with --annotation");
  }
  params.by = SplitList(raw.by);
  params.all = raw.all;
  std::vector<const ParamSpec*> known = ParamsOf(specs);
  if (specs.front()->leading != nullptr) {
    known.push_back(specs.front()->leading);
  }
  for (const ParamSpec* param : known) {
    if (const auto given = raw.params.find(param->name); given != raw.params.end()) {
      BS_ASSIGN(ParamValue value, ParseParam(*param, given->second));
      params.values.push_back(std::move(value));
    }
  }
  BS_ASSIGN(params.compat, ParseCompat(raw.compat));
  return params;
}

// The two inputs of a comparison, and what differs between them.
Result<void> UnderstandTwo(const AnalysisSpec& spec, const RawOptions& raw, RunOptions& options) {
  if (raw.inputs.size() != 2) {
    return UsageError(fmt::format("{} compares two runs; name two files or folders", spec.name));
  }
  const auto either = [](const std::string& own, const std::string& common) {
    return own.empty() ? common : own;
  };
  BS_ASSIGN(options.ranks, ParseRanges("base-rank", either(raw.base_rank, raw.rank)));
  BS_ASSIGN(options.test.ranks, ParseRanges("test-rank", either(raw.test_rank, raw.rank)));
  BS_ASSIGN(options.params.selection.steps,
            ParseRanges("base-step", either(raw.base_step, raw.step)));
  BS_ASSIGN(options.test.steps, ParseRanges("test-step", either(raw.test_step, raw.step)));
  BS_ASSIGN(options.files, ExpandInputs({&raw.inputs[0], 1}));
  BS_ASSIGN(options.test.files, ExpandInputs({&raw.inputs[1], 1}));
  return {};
}

// Options that say how --overlay draws mean nothing without it.
Result<void> CheckOverlayDetails(const RawOptions& raw) {
  for (const auto& [name, text] : raw.params) {
    if (name.starts_with("overlay-") && raw.overlay.empty()) {
      return UsageError(fmt::format("--{} says what --overlay draws; add --overlay FILE", name));
    }
  }
  return {};
}

}  // namespace

Result<NumberRanges> ParseRanges(std::string_view option, const std::string& text) {
  if (text.empty()) {
    return NumberRanges();
  }
  Result<NumberRanges> ranges = NumberRanges::Parse(text);
  if (!ranges.ok()) {
    return UsageError(fmt::format("--{}: {}", option, ranges.error().message));
  }
  return ranges;
}

Result<int64_t> ParseWithin(std::string_view option, const std::string& text, int64_t smallest,
                            int64_t largest) {
  const std::optional<int64_t> number = ParseNumber<int64_t>(text);
  if (!number.has_value() || *number < smallest || *number > largest) {
    return UsageError(
        fmt::format("--{}: '{}' is no number between {} and {}", option, text, smallest, largest));
  }
  return *number;
}

Result<int> ParseCount(std::string_view option, const std::string& text, int largest,
                       int smallest) {
  BS_ASSIGN(const int64_t number, ParseWithin(option, text, smallest, largest));
  return static_cast<int>(number);
}

Result<RunOptions> Understand(Specs specs, const RawOptions& raw) {
  RunOptions options;
  if (raw.inputs.empty() && raw.load.empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  if (!raw.inputs.empty() && !raw.load.empty()) {
    return UsageError("--load answers without a trace; leave out INPUT, or --load");
  }
  BS_ASSIGN(options.params, UnderstandParams(specs, raw));
  BS_TRY(CheckOverlayDetails(raw));
  options.overlay = raw.overlay;
  options.save = raw.save;
  options.load = !raw.load.empty();
  BS_ASSIGN(options.ranks, ParseRanges("rank", raw.rank));
  options.sort = raw.sort;
  if (!raw.top.empty()) {
    BS_ASSIGN(const int top, ParseCount("top", raw.top, 1'000'000'000));
    options.top = static_cast<size_t>(top);
  }
  if (!raw.threads.empty()) {
    BS_ASSIGN(options.threads, ParseThreads(raw.threads));
  }
  if (!raw.memory_limit.empty()) {
    BS_ASSIGN(options.memory_limit, ParseSize(raw.memory_limit));
  }
  if (specs.front()->takes_two()) {
    BS_TRY(UnderstandTwo(*specs.front(), raw, options));
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
