#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/partial.h"

namespace borescope::cli {
namespace {

constexpr int kMostRows = 1'000'000'000;
constexpr int kMostFiles = 1'000'000'000;

Result<ReduceOptions> UnderstandReduce(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no PART; name the files that map wrote, or their folder");
  }
  ReduceOptions options;
  options.display.sort = raw.Get("sort");
  if (const std::string& top = raw.Get("top"); !top.empty()) {
    BS_ASSIGN(const int rows,
              top == "all" ? Result<int>(kMostRows) : ParseCount("top", top, kMostRows));
    options.display.top = static_cast<size_t>(rows);
  }
  if (!raw.Get("expect").empty()) {
    BS_ASSIGN(const int files, ParseCount("expect", raw.Get("expect"), kMostFiles));
    options.expected_files = static_cast<uint64_t>(files);
  }
  return options;
}

Result<Answer> ReduceParts(const RawOptions& raw, OutputOptions& output) {
  BS_ASSIGN(const ReduceOptions options, UnderstandReduce(raw));
  BS_ASSIGN(const FoundParts found, FindParts(raw.inputs));
  ReportPassedOver(found, raw);
  // Not all that lies in their folder: an earlier answer there may be replaced.
  std::vector<std::string> paths;
  paths.reserve(found.parts.size());
  for (const StoredPart& part : found.parts) {
    paths.push_back(part.name);
  }
  BS_TRY(ProtectInputs(paths, output));
  return Reduce(found.parts, options);
}

// --strict: whether everything of the run is in the answer.
int StrictStatus(const Answer& answer, const RawOptions& raw) {
  const std::vector<Diagnostic>& diagnostics = answer.diagnostics();
  const bool lacks =
      std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
        return diagnostic.code == "missing-parts" || diagnostic.code == "missing-ranks";
      });
  return raw.Has("strict") && lacks ? kCheckFailed : kDone;
}

Result<size_t> MergeParts(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no PART; name the files that map wrote, or their folder");
  }
  constexpr std::string_view kOfAnswers[] = {"output", "format", "sort", "top", "expect", "strict"};
  if (std::any_of(std::begin(kOfAnswers), std::end(kOfAnswers),
                  [&](std::string_view option) { return raw.Has(option); })) {
    return UsageError(
        "--partial writes no answer; give -o, -f, --sort, --top, --expect and "
        "--strict to the reduce that does");
  }
  BS_TRY(CheckOutput(raw.Get("partial"), raw.inputs));
  BS_ASSIGN(const std::vector<Partial> partials, ReadPartials(raw.inputs));
  BS_ASSIGN(const Partial merged, Merge(partials));
  BS_TRY(merged.Write(raw.Get("partial")));
  return merged.num_files();
}

int RunMerge(const Command& command) {
  const Result<size_t> files = MergeParts(command.raw);
  if (!files.ok()) {
    return FailWith(files.error(), command);
  }
  if (!command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: wrote {}: {} file{}", command.raw.Get("partial"),
                                 *files, *files == 1 ? "" : "s"));
  }
  return kDone;
}

}  // namespace

int RunReduceVerb(const Command& command) {
  if (!command.raw.Get("partial").empty()) {
    return RunMerge(command);
  }
  Result<OutputOptions> output = UnderstandOutput(command.raw);
  if (!output.ok()) {
    return FailWith(output.error(), command);
  }
  const Result<Answer> answer = ReduceParts(command.raw, *output);
  if (!answer.ok()) {
    return FailWith(answer.error(), command);
  }
  ReportFiles(answer->files(), command.raw);
  return std::max({StatusOf(answer->files()), StrictStatus(*answer, command.raw),
                   WriteAnswer(*output, *answer, command)});
}

}  // namespace borescope::cli
