#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "borescope/check.h"
#include "borescope/cli/answers.h"
#include "borescope/cli/commands.h"
#include "borescope/cli/commands/verb_commands.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/partial.h"

namespace borescope::cli {

namespace {

constexpr uint64_t kLargePart = 64'000'000;

// "DIR/", or a folder that is there.
Result<bool> IsFolder(const std::string& output) {
  BS_ASSIGN(const std::filesystem::file_type type, TypeOfPath(output));
  return output.ends_with('/') || type == std::filesystem::file_type::directory;
}

Result<void> CheckMap(const Command& command) {
  if (command.analyses.empty()) {
    return UsageError("map needs verbs and an INPUT; name them: borescope map summary RUN -o PART");
  }
  const RawOptions& raw = command.raw;
  const bool is_check = raw.whole == "check";
  if (raw.Get("output").empty() || raw.Get("output") == kStandardOutput) {
    return UsageError(fmt::format("map writes a file for {}; name it, or its folder, with -o",
                                  is_check ? "check" : "reduce"));
  }
  if (!raw.Get("format").empty() || !raw.Get("sort").empty() || !raw.Get("top").empty()) {
    return UsageError("map shows nothing; give --format, --sort and --top to reduce");
  }
  if (!is_check && !raw.Get("budget").empty()) {
    return UsageError("--budget is about a check; write borescope map check RUN -o PART");
  }
  BS_ASSIGN(const bool is_folder, IsFolder(raw.Get("output")));
  if (raw.Has("force") && !is_folder) {
    return UsageError("--force is about parts that are kept in a folder; give -o DIR/");
  }
  BS_TRY(CheckInputs(raw));
  return CheckQuestion(QuestionOf(command));
}

Result<PartFile> MapToFile(const Run& run, const Command& command) {
  const std::string& path = command.raw.Get("output");
  BS_ASSIGN(const Partial partial, run.Map(QuestionOf(command), path));
  BS_TRY(partial.Write(path));
  std::error_code unknown;
  const uintmax_t bytes = std::filesystem::file_size(path, unknown);
  return PartFile{path,
                  false,
                  unknown ? 0 : bytes,
                  partial.num_files(),
                  partial.num_loaded(),
                  partial.load_errors()};
}

// Files that fail are a part all the same, as the answer says so. Where all of them do, the path is
// wrong as likely as not: the status shows it.
int StatusOf(const PartFile& part) {
  return part.loaded == 0 && !part.load_errors.empty() ? kFailed : kDone;
}

// A check needs its runs as they were named, and reads each several times.
Result<PartFile> WritePartOfCheck(const Command& command) {
  const RawOptions& raw = command.raw;
  if (std::count(raw.inputs.begin(), raw.inputs.end(), "-") > 0 || !raw.Get("load").empty() ||
      !raw.Get("scrub").empty()) {
    return UsageError(
        "map check: it reads recordings several times, and says which each is; write standard "
        "input to a file, leave out --load, and scrub first: borescope convert --scrub");
  }
  CheckOptions options;
  options.budget = raw.Get("budget");
  options.question = QuestionOf(command);
  if (!raw.Get("captures").empty()) {
    options.captures = {raw.Get("captures")};
  }
  BS_ASSIGN(options.threads, ParseThreads(raw.Get("threads")));
  BS_ASSIGN(options.memory_limit, KeepMemoryLimit(raw));
  CheckMapOptions map;
  if (!raw.Get("shard").empty()) {
    BS_ASSIGN(map.shard, ParseShard(raw.Get("shard")));
  }
  map.output = raw.Get("output");
  map.again = raw.Has("force");
  ProgressBar bar(raw);
  options.progress = bar.Callback();
  return MapCheck(raw.inputs, options, map);
}

Result<PartFile> WritePart(const Command& command) {
  BS_TRY(CheckMap(command));
  if (command.raw.whole == "check") {
    return WritePartOfCheck(command);
  }
  RawOptions raw = command.raw;
  ProgressBar bar(raw);
  BS_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(raw, bar.Callback()));
  BS_ASSIGN(const Run run,
            OpenRun(raw.Has("load") ? std::span(&raw.Get("load"), 1) : std::span(raw.inputs), raw,
                    bar.Callback()));
  BS_ASSIGN(const bool is_folder, IsFolder(raw.Get("output")));
  return is_folder ? run.MapInto(raw.Get("output"), QuestionOf(command), raw.Has("force"))
                   : MapToFile(run, command);
}

std::string PartLine(const PartFile& part) {
  const char* const plural = part.files == 1 ? "" : "s";
  return part.was_kept
             ? fmt::format("borescope: kept {}, which holds the answer of {} file{}", part.path,
                           part.files, plural)
             : fmt::format("borescope: wrote {}: {} file{}", part.path, part.files, plural);
}

void ReportPart(const PartFile& part, const RawOptions& raw) {
  for (const std::string& error : part.load_errors) {
    WriteMessageLine(fmt::format("borescope: {}", error));
  }
  if (raw.Has("quiet")) {
    return;
  }
  WriteMessageLine(PartLine(part));
  if (part.bytes > kLargePart) {
    WriteMessageLine(
        fmt::format("borescope: the part has {} MB; verbs with a row for each event "
                    "have large ones: ask them of some ranks, or with a selection",
                    part.bytes / 1'000'000));
  }
}

}  // namespace

Result<int> RunMapVerb(const Command& command) {
  BS_ASSIGN(const PartFile part, WritePart(command));
  ReportPart(part, command.raw);
  return StatusOf(part);
}

namespace {

constexpr int kMostFiles = 1'000'000'000;

Result<ReduceOptions> UnderstandReduce(const RawOptions& raw) {
  if (raw.inputs.empty()) {
    return UsageError("no PART; name the files that map wrote, or their folder");
  }
  ReduceOptions options;
  options.display.sort = raw.Get("sort");
  if (const std::string& top = raw.Get("top"); !top.empty()) {
    BS_ASSIGN(const int rows, ParseTop(top));
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

Result<int> RunMerge(const Command& command) {
  BS_ASSIGN(const size_t files, MergeParts(command.raw));
  if (!command.raw.Has("quiet")) {
    WriteMessageLine(fmt::format("borescope: wrote {}: {} file{}", command.raw.Get("partial"),
                                 files, files == 1 ? "" : "s"));
  }
  return kDone;
}

}  // namespace

Result<int> RunReduceVerb(const Command& command) {
  if (!command.raw.Get("partial").empty()) {
    return RunMerge(command);
  }
  BS_ASSIGN(OutputOptions output, UnderstandOutput(command.raw));
  BS_ASSIGN(const Answer answer, ReduceParts(command.raw, output));
  ReportFiles(answer.files(), command.raw);
  BS_TRY(WriteAnswer(output, answer, command));
  return std::max(StatusOf(answer.files()), StrictStatus(answer, command.raw));
}

}  // namespace borescope::cli
