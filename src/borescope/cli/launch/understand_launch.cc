#include "borescope/cli/launch/understand_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "borescope/cli/launch/launch_words.h"
#include "borescope/cli/launch/shard_count.h"
#include "borescope/cli/options/output_options.h"
#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/run.h"
#include "borescope/schema.h"
#include "borescope/table.h"
#include "borescope/text.h"

namespace borescope::cli {
namespace {

constexpr int kMostShards = 99'999;  // names of parts have five digits
constexpr int kMostNodes = 10'000;
constexpr int kUsualNodes = 16;
constexpr int kMostCpus = 1024;  // as --threads
constexpr uint64_t kMebibyte = 1 << 20;
constexpr size_t kLongestName = 40;  // labels of Kubernetes have 63 characters at most

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path == "/" ? "" : path;
}

// A count, or what is meant where none was typed.
Result<int> CountOr(std::string_view option, const std::string& text, int largest, int usual) {
  return text.empty() ? Result<int>(usual) : ParseCount(option, text, largest);
}

// As map does, but before anything is submitted: the library checks it only where there is a run.
Result<void> CheckTables(const Command& command) {
  std::set<std::string> names;
  for (const VerbInfo* const verb : command.analyses) {
    BS_ASSIGN(const Answer answer, DescribeAnswer(verb->name));
    for (const Table& table : answer.tables()) {
      if (!names.insert(std::string(table.name())).second) {
        return UsageError(fmt::format("two of the verbs give a table \"{}\"; ask for summary alone",
                                      table.name()));
      }
    }
  }
  return {};
}

Result<void> CheckAsked(const Command& command) {
  const RawOptions& raw = command.raw;
  if (raw.check) {
    return UsageError(
        "launch: a check compares runs, and which is not the matter of one job; let each job run "
        "borescope map check, and then borescope check");
  }
  if (command.analyses.empty()) {
    return UsageError(
        "launch: no verbs; they come before the run: borescope launch slurm summary RUN -o DIR");
  }
  for (const VerbInfo* const verb : command.analyses) {
    if (verb->takes_two) {
      return UsageError(fmt::format(
          "{}: it compares two runs, and has no parts; run it where both are", verb->name));
    }
  }
  if (raw.inputs.empty() ||
      std::find(raw.inputs.begin(), raw.inputs.end(), "-") != raw.inputs.end()) {
    return UsageError("launch: no run that tasks can read; name its folder or its files");
  }
  BS_TRY(CheckTables(command));
  return CheckQuestion(NamesOf(command.analyses), raw.ToParams());
}

Result<std::string> UnderstandFolder(const RawOptions& raw) {
  const std::string folder = WithoutSlashes(raw.output);
  if (folder.empty() || folder == "-") {
    return UsageError("launch: no folder for the parts and the answer; name one with -o DIR");
  }
  for (const std::string& input : raw.inputs) {
    if (WithoutSlashes(input) == folder) {
      return UsageError(fmt::format(
          "--output {0}: parts in the run's own folder would become files of the run; name another",
          folder));
    }
  }
  return folder;
}

Result<std::string> UnderstandName(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool is_fine =
      !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
      is_letter(name.back()) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || c == '-'; });
  return is_fine ? Result<std::string>(name)
                 : UsageError(fmt::format("--name: '{}' is no name of a job: up to {} small "
                                          "letters, digits, and dashes between them",
                                          name, kLongestName));
}

// The extension of the format in which the answer is written.
Result<std::string> UnderstandExtension(RawOptions raw) {
  if (raw.report) {
    const bool is_page = raw.format.empty() && raw.Param("sort").empty() && !raw.csv_safe;
    return is_page ? Result<std::string>("html")
                   : UsageError(
                         "launch: the report is a page; leave out --format, --sort and "
                         "--csv-safe");
  }
  raw.output = "answer";
  BS_ASSIGN(const OutputOptions output, UnderstandOutput(raw));
  return output.writer->extension;
}

Result<std::vector<FileSize>> SizesOf(const RawOptions& raw) {
  const std::vector<Source> sources(raw.inputs.begin(), raw.inputs.end());
  BS_ASSIGN(const Run run, Run::Open(sources, {.allow_missing = true}));
  std::vector<FileSize> files;
  for (std::string& path : run.paths()) {
    std::error_code unknown;
    const uintmax_t bytes = std::filesystem::file_size(path, unknown);
    if (unknown) {
      return Error{.code = ErrorCode::kIo, .cause = path + ": " + unknown.message()};
    }
    files.push_back({std::move(path), bytes});
  }
  return files;
}

Result<int> UnderstandShards(const RawOptions& raw) {
  if (!raw.shards.empty()) {
    return ParseCount("shards", raw.shards, kMostShards);
  }
  BS_ASSIGN(const int nodes, CountOr("nodes", raw.nodes, kMostNodes, kUsualNodes));
  Result<std::vector<FileSize>> files = SizesOf(raw);
  if (!files.ok()) {
    Error error = files.error();
    error.cause += "; a run that only tasks see needs --shards N";
    return error;
  }
  return DefaultShards(*files, nodes);
}

Result<uint64_t> UnderstandMemory(const std::string& text) {
  if (text.empty()) {
    return uint64_t{0};
  }
  BS_ASSIGN(const uint64_t bytes, ParseSize("mem", text));
  return (bytes / kMebibyte) + (bytes % kMebibyte != 0 ? 1 : 0);
}

// Line ends, other controls and broken UTF-8 have no place in a script or in YAML.
Result<void> CheckText(std::string_view text) {
  return ToPrintable(text) == text
             ? Result<void>()
             : UsageError(
                   fmt::format("launch: '{}' has characters that cannot be written down in a "
                               "script; rename what it names",
                               text));
}

Result<void> CheckTexts(const RawOptions& raw) {
  for (const std::string& input : raw.inputs) {
    BS_TRY(CheckText(input));
  }
  for (const auto& [name, value] : raw.params) {
    BS_TRY(CheckText(value));
  }
  for (const OptionRow& row : Options()) {
    if (row.text != nullptr) {
      BS_TRY(CheckText(raw.*row.text));
    }
  }
  return {};
}

}  // namespace

Result<LaunchJob> UnderstandLaunch(const Command& command) {
  const RawOptions& raw = command.raw;
  BS_TRY(CheckAsked(command));
  BS_TRY(CheckTexts(raw));
  LaunchJob job;
  job.verbs = raw.report ? "report" : fmt::format("{}", fmt::join(NamesOf(command.analyses), ","));
  job.is_report = raw.report;
  BS_ASSIGN(job.name, UnderstandName(raw.job_name.empty() ? "borescope" : raw.job_name));
  BS_ASSIGN(job.folder, UnderstandFolder(raw));
  BS_ASSIGN(job.map_options, MapOptions(command));
  job.task_options = TaskOptions(raw);
  job.words = LeadingWords(command);
  job.inputs = raw.inputs;
  job.reduce_options = ReduceOptions(raw);
  BS_ASSIGN(job.extension, UnderstandExtension(raw));
  BS_ASSIGN(job.cpus, CountOr("cpus", raw.cpus, kMostCpus, 1));
  BS_ASSIGN(job.mebibytes, UnderstandMemory(raw.memory));
  job.is_forced = raw.force;
  BS_ASSIGN(job.shards, UnderstandShards(raw));
  return job;
}

}  // namespace borescope::cli
