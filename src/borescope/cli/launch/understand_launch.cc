#include "borescope/cli/launch/understand_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/cli/options/values.h"
#include "borescope/cli/questions.h"
#include "borescope/run.h"
#include "borescope/schema.h"
#include "borescope/table.h"
#include "borescope/text.h"

namespace borescope::cli {

namespace {

// An option of the verbs that is none of a launch, and what to do.
struct RefusedRow {
  std::string_view option;
  std::string_view remedy;
};
constexpr RefusedRow kRefused[] = {
    {"threads", "say --cpus N"},
    {"load", "it answers from what --save wrote, in one process"},
    {"save", "parts have no finished answer"},
    {"overlay", "parts have no finished answer"},
    {"scrub", "scrub first: borescope convert --scrub for each file"},
    {"scrub-key", "scrub first: borescope convert --scrub for each file"},
    {"scrub-map", "scrub first: borescope convert --scrub for each file"},
};

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string OptionWord(const Option& option, const RawOptions& raw) {
  return option.is_flag() ? fmt::format("--{}", option.long_name)
                          : fmt::format("--{}={}", option.long_name, raw.Get(option.long_name));
}

Result<void> CheckRefused(const RawOptions& raw) {
  for (const RefusedRow& refused : kRefused) {
    if (raw.Has(refused.option)) {
      return UsageError(
          fmt::format("launch: --{} is not for tasks; {}", refused.option, refused.remedy));
    }
  }
  return {};
}

// What was typed of the options of the verbs.
std::vector<std::string> GivenWords(const Command& command,
                                    bool (*is_wanted)(const Option& option)) {
  std::vector<std::string> words;
  for (const Option& option : OptionsOf(command.analyses, nullptr)) {
    if (is_wanted(option) && command.raw.Has(option.long_name)) {
      words.push_back(OptionWord(option, command.raw));
    }
  }
  return words;
}

}  // namespace

// All of the verbs but what reduce takes.
Result<std::vector<std::string>> MapOptions(const Command& command) {
  BS_TRY(CheckRefused(command.raw));
  return GivenWords(command, [](const Option& option) {
    constexpr std::string_view kOfReduce[] = {"sort", "top"};
    return option.long_name == "captures" || option.long_name == "counters" ||
           option.long_name == "counters-anyway" ||
           (option.is_parameter && !IsIn(kOfReduce, option.long_name));
  });
}

std::vector<std::string> TaskOptions(const Command& command) {
  return GivenWords(command, [](const Option& option) {
    constexpr std::string_view kOfTask[] = {"memory-limit", "verbose"};
    return IsIn(kOfTask, option.long_name);
  });
}

std::vector<std::string> LeadingWords(const Command& command) {
  std::vector<std::string> words;
  for (const VerbInfo* const verb : command.analyses) {
    if (!verb->word.empty()) {
      words.push_back(command.raw.Get(verb->word));
    }
  }
  return words;
}

std::vector<std::string> ReduceOptions(const RawOptions& raw) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) {
      words.push_back(fmt::format("--{}={}", name, value));
    }
  };
  add("format", raw.Get("format"));
  add("sort", raw.Get("sort"));
  add("top", raw.Get("top"));
  if (raw.Has("csv-safe")) {
    words.emplace_back("--csv-safe");
  }
  return words;
}

namespace {

constexpr double kSecondsPerByte = 2.9e-9;  // of text, with what inflating it takes
constexpr double kTextPerCompressed = 15;   // traces become 10 to 18 times smaller
constexpr double kLeastSeconds = 10;
constexpr double kShardsPerNode = 4;

bool IsCompressed(std::string_view path) { return path.ends_with(".gz") || path.ends_with(".zst"); }

}  // namespace

double EstimateSeconds(std::span<const FileSize> files) {
  double text = 0;
  for (const FileSize& file : files) {
    text += static_cast<double>(file.bytes) * (IsCompressed(file.path) ? kTextPerCompressed : 1);
  }
  return text * kSecondsPerByte;
}

int DefaultShards(std::span<const FileSize> files, int nodes) {
  const double most = std::min({static_cast<double>(files.size()), kShardsPerNode * nodes,
                                EstimateSeconds(files) / kLeastSeconds});
  return std::max(1, static_cast<int>(most));
}

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
  if (raw.whole == "check") {
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
  return CheckQuestion(QuestionOf(command));
}

Result<std::string> UnderstandFolder(const RawOptions& raw) {
  const std::string folder = WithoutSlashes(raw.Get("output"));
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
  if (raw.whole == "report") {
    const bool is_page =
        raw.Get("format").empty() && raw.Get("sort").empty() && !raw.Has("csv-safe");
    return is_page ? Result<std::string>("html")
                   : UsageError(
                         "launch: the report is a page; leave out --format, --sort and "
                         "--csv-safe");
  }
  raw.values["output"] = "answer";
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
  if (!raw.Get("shards").empty()) {
    return ParseCount("shards", raw.Get("shards"), kMostShards);
  }
  BS_ASSIGN(const int nodes, CountOr("nodes", raw.Get("nodes"), kMostNodes, kUsualNodes));
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
  for (const auto& [name, value] : raw.values) {
    BS_TRY(CheckText(value));
  }
  return {};
}

}  // namespace

Result<LaunchJob> UnderstandLaunch(const Command& command) {
  const RawOptions& raw = command.raw;
  BS_TRY(CheckAsked(command));
  BS_TRY(CheckTexts(raw));
  LaunchJob job;
  job.verbs = raw.whole == "report" ? "report"
                                    : fmt::format("{}", fmt::join(NamesOf(command.analyses), ","));
  job.is_report = raw.whole == "report";
  BS_ASSIGN(job.name, UnderstandName(raw.Get("name").empty() ? "borescope" : raw.Get("name")));
  BS_ASSIGN(job.folder, UnderstandFolder(raw));
  BS_ASSIGN(job.map_options, MapOptions(command));
  job.task_options = TaskOptions(command);
  job.words = LeadingWords(command);
  job.inputs = raw.inputs;
  job.reduce_options = ReduceOptions(raw);
  BS_ASSIGN(job.extension, UnderstandExtension(raw));
  BS_ASSIGN(job.cpus, CountOr("cpus", raw.Get("cpus"), kMostCpus, 1));
  BS_ASSIGN(job.mebibytes, UnderstandMemory(raw.Get("mem")));
  job.is_forced = raw.Has("force");
  BS_ASSIGN(job.shards, UnderstandShards(raw));
  return job;
}

namespace {

// Options of one engine alone.
constexpr std::string_view kOfSlurm[] = {"partition", "account", "time", "sbatch"};
constexpr std::string_view kOfKubernetes[] = {"image", "volume", "user"};

Result<void> Refuse(const RawOptions& raw, std::string_view engine,
                    std::span<const std::string_view> others) {
  for (const std::string_view option : others) {
    if (raw.Has(option)) {
      return UsageError(fmt::format("launch {}: --{} is not for it", engine, option));
    }
  }
  return {};
}

// The words between blanks.
std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = text.find_first_not_of(' '); begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(' ', end);
  }
  return words;
}

Result<VolumeMount> UnderstandVolume(const std::string& text) {
  const size_t colon = text.find(':');
  VolumeMount volume{text.substr(0, colon),
                     colon == std::string::npos ? "" : text.substr(colon + 1)};
  while (volume.path.ends_with('/')) {
    volume.path.pop_back();
  }
  if (volume.claim.empty() || !volume.path.starts_with('/') || volume.path == "/tmp" ||
      volume.path.find(':') != std::string::npos) {
    return UsageError(
        fmt::format("--volume: '{}' is not CLAIM:PATH, a persistent volume claim and the folder "
                    "where containers see it, neither / nor /tmp",
                    text));
  }
  return volume;
}

}  // namespace

Result<SlurmOptions> UnderstandSlurm(const RawOptions& raw) {
  BS_TRY(Refuse(raw, "slurm", kOfKubernetes));
  if (raw.Get("output").find('\\') != std::string::npos) {
    return UsageError(
        fmt::format("launch slurm: sbatch takes no name of a log with a backslash; name another "
                    "folder than '{}'",
                    raw.Get("output")));
  }
  SlurmOptions options;
  for (const std::string_view option : kOfSlurm) {
    if (option != "sbatch" && raw.Has(option)) {
      options.sbatch.push_back(fmt::format("--{}={}", option, raw.Get(option)));
    }
  }
  for (std::string& word : WordsOf(raw.Get("sbatch"))) {
    if (!word.starts_with('-')) {
      return UsageError(fmt::format(
          "--sbatch: '{}' is no option; write values after an equals sign: --qos=high", word));
    }
    options.sbatch.push_back(std::move(word));
  }
  return options;
}

Result<KubernetesOptions> UnderstandKubernetes(const RawOptions& raw) {
  BS_TRY(Refuse(raw, "k8s", kOfSlurm));
  KubernetesOptions options;
  if (raw.Get("image").empty()) {
    return UsageError("launch k8s: no container image with borescope; name one with --image");
  }
  options.image = raw.Get("image");
  for (const std::string& text : SplitList(raw.Get("volume"))) {
    BS_ASSIGN(VolumeMount volume, UnderstandVolume(text));
    options.volumes.push_back(std::move(volume));
  }
  if (!raw.Get("user").empty()) {
    constexpr int64_t kLargest = (int64_t{1} << 31) - 1;
    BS_ASSIGN(options.user, ParseWithin("user", raw.Get("user"), 1, kLargest));
  }
  return options;
}

}  // namespace borescope::cli
