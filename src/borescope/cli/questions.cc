#include "borescope/cli/questions.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/cli/options/values.h"
#include "borescope/cli/terminal/terminal.h"
#include "borescope/cli/usage_error.h"
#include "borescope/run.h"

// Sanitizers take memory of their own, and end the process where they get none.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BORESCOPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BORESCOPE_SANITIZED 1
#endif
#endif
#ifndef BORESCOPE_SANITIZED
#define BORESCOPE_SANITIZED 0
#endif

namespace borescope::cli {

namespace {

size_t CountOf(const std::vector<FileInfo>& files, CacheUse use) {
  return static_cast<size_t>(std::count_if(
      files.begin(), files.end(), [use](const FileInfo& file) { return file.cache == use; }));
}

std::string Files(size_t count) { return fmt::format("{} file{}", count, count == 1 ? "" : "s"); }

}  // namespace

std::string CacheFolder(const RawOptions& raw) {
  std::string folder = raw.Get("cache");
  if (folder.empty()) {
    const char* const named = std::getenv("BORESCOPE_CACHE");  // NOLINT(concurrency-mt-unsafe)
    folder = named == nullptr ? "" : named;
  }
  return folder == "off" ? "" : folder;
}

Result<uint64_t> ParseCacheSize(const RawOptions& raw) {
  return raw.Get("cache-size").empty() ? OpenOptions().cache_bytes
                                       : ParseSize("cache-size", raw.Get("cache-size"));
}

std::vector<std::string> CacheLines(const std::vector<FileInfo>& files) {
  const size_t found = CountOf(files, CacheUse::kFound);
  const size_t kept = CountOf(files, CacheUse::kKept);
  std::vector<std::string> lines;
  if (found + kept > 0) {
    lines.push_back(fmt::format(
        "borescope: cache: {}{}{}", found > 0 ? fmt::format("{} read from it", Files(found)) : "",
        found > 0 && kept > 0 ? ", " : "", kept > 0 ? fmt::format("{} added", Files(kept)) : ""));
  }
  std::set<std::string_view> failures;
  for (const FileInfo& file : files) {
    if (file.cache != CacheUse::kFailed) {
      continue;
    }
    // A folder that cannot be used is the failure of all files.
    if (failures.insert(file.cache_failure).second) {
      lines.push_back(fmt::format("borescope: cache: not used: {}", file.cache_failure));
    }
  }
  return lines;
}

namespace {

// What RLIMIT_DATA bounds: memory that is only the program's, and can be written.
rlim_t WritableBytes() {
  rlim_t pages = 0;
  rlim_t before = 0;
  std::ifstream file("/proc/self/statm");  // proc_pid_statm(5): the sixth number
  file >> before >> before >> before >> before >> before >> pages;
  return file ? pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) : 0;
}

Result<void> RefuseMemoryBeyond(uint64_t bytes) {
  static const rlim_t base = WritableBytes();
  if (base == 0) {
    return Error{
        ErrorCode::kIo,
        fmt::format("--memory-limit cannot be kept, as /proc/self/statm cannot be read: {}",
                    std::strerror(errno)),
        "mount /proc, or leave the option out"};
  }
  rlimit limit{};
  if (BORESCOPE_SANITIZED == 0 && getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = std::min(limit.rlim_cur, base + bytes + bytes / 16);
    setrlimit(RLIMIT_DATA, &limit);
  }
  return {};
}

}  // namespace

Result<uint64_t> KeepMemoryLimit(const RawOptions& raw) {
  if (raw.Get("memory-limit").empty()) {
    return uint64_t{0};
  }
  BS_ASSIGN(const uint64_t bytes, ParseSize("memory-limit", raw.Get("memory-limit")));
  BS_TRY(RefuseMemoryBeyond(bytes));
  return bytes;
}

Result<std::optional<ScrubOptions>> ParseScrub(const RawOptions& raw) {
  if (raw.Get("scrub").empty()) {
    if (!raw.Get("scrub-key").empty() || !raw.Get("scrub-map").empty()) {
      return UsageError("--scrub-key and --scrub-map say how to scrub; add --scrub");
    }
    return std::optional<ScrubOptions>();
  }
  if (raw.Get("scrub") != "secrets" && raw.Get("scrub") != "names") {
    return UsageError("--scrub: '" + raw.Get("scrub") + "' is neither secrets nor names");
  }
  if (raw.Get("scrub") != "names" && !raw.Get("scrub-map").empty()) {
    return UsageError("--scrub-map lists new names, which --scrub=names makes");
  }
  return std::optional(
      ScrubOptions{raw.Get("scrub") == "names", raw.Get("scrub-key"), raw.Get("scrub-map")});
}

Result<std::optional<ScrubbedCopies>> ScrubInputs(RawOptions& raw,
                                                  const ProgressCallback& progress) {
  BS_ASSIGN(const std::optional<ScrubOptions> options, ParseScrub(raw));
  if (!options.has_value()) {
    return std::optional<ScrubbedCopies>();
  }
  if (raw.Has("load")) {
    return UsageError("--scrub reads recordings; leave it out, or --load");
  }
  std::vector<std::string*> named;
  named.reserve(raw.inputs.size() + 2);
  for (std::string& input : raw.inputs) {
    named.push_back(&input);
  }
  for (const std::string_view other : {"against", "captures"}) {
    if (const auto given = raw.values.find(other); given != raw.values.end()) {
      named.push_back(&given->second);
    }
  }
  std::vector<std::string> inputs;
  inputs.reserve(named.size());
  for (const std::string* name : named) {
    inputs.push_back(*name);
  }
  BS_ASSIGN(ScrubbedCopies copies, ScrubbedCopies::Make(inputs, *options, progress));
  for (size_t i = 0; i < named.size(); ++i) {
    *named[i] = copies.paths()[i];
  }
  return std::optional(std::move(copies));
}

namespace {

// Adds what was typed of the parameters of these verbs.
Question WithParameters(Question question, Verbs verbs, const RawOptions& raw) {
  for (const auto& [name, text] : raw.values) {
    if (FindParameter(verbs, name) != nullptr) {
      question.Set(name, text);
    }
  }
  return question;
}

Result<Answer> AskOne(const Command& command, const Destination& destination,
                      const ProgressCallback& progress) {
  const RawOptions& raw = command.raw;
  const std::span<const std::string> inputs =
      raw.Has("load") ? std::span(&raw.Get("load"), 1) : std::span(raw.inputs);
  BS_ASSIGN(const Run run, OpenRun(inputs, raw, progress));
  return run.Ask(QuestionOf(command), destination);
}

Result<Answer> AskTwo(const Command& command, const Destination& destination,
                      const ProgressCallback& progress) {
  const RawOptions& raw = command.raw;
  const std::string& verb = command.analyses.front()->name;
  if (raw.inputs.size() != 2) {
    return UsageError(fmt::format("{} compares two runs; name two files or folders", verb));
  }
  BS_ASSIGN(const Run base, OpenRun({&raw.inputs[0], 1}, raw, progress));
  BS_ASSIGN(const Run test, OpenRun({&raw.inputs[1], 1}, raw, progress));
  return base.Compare(test, QuestionOf(command), destination);
}

}  // namespace

Question QuestionOf(std::string_view verb, const RawOptions& raw) {
  const VerbInfo* const like[] = {FindVerb("summary")};
  Question question = WithParameters(verb, like, raw);
  if (verb == "report" && raw.Has("timeline")) {
    question.Set("timeline", raw.Get("timeline"));
  }
  return question;
}

Question QuestionOf(const Command& command) {
  if (!command.raw.whole.empty()) {
    return QuestionOf(command.raw.whole, command.raw);
  }
  const std::vector<std::string_view> names = NamesOf(command.analyses);
  return WithParameters(Question::Of({names.begin(), names.end()}), command.analyses, command.raw);
}

void AddCounters(const RawOptions& raw, OpenOptions& options) {
  const std::string& given = raw.Get("counters");
  for (size_t begin = 0; begin < given.size();) {
    const size_t end = std::min(given.find('\n', begin), given.size());
    options.counters.push_back(given.substr(begin, end - begin));
    begin = end + 1;
  }
  options.counters_anyway = raw.Has("counters-anyway");
}

Result<Run> OpenRun(std::span<const std::string> inputs, const RawOptions& raw,
                    ProgressCallback progress, StopToken stop, uint64_t keep_bytes) {
  OpenOptions options;
  BS_ASSIGN(options.threads, ParseThreads(raw.Get("threads")));
  BS_ASSIGN(options.memory_limit, KeepMemoryLimit(raw));
  if (!raw.Get("captures").empty()) options.captures.push_back(raw.Get("captures"));
  AddCounters(raw, options);
  if (!raw.Get("shard").empty()) {
    BS_ASSIGN(options.shard, ParseShard(raw.Get("shard")));
  }
  BS_ASSIGN(options.cache_bytes, ParseCacheSize(raw));
  options.cache = CacheFolder(raw);
  options.cache_is_optional = raw.Get("cache").empty();  // of the environment
  options.allow_missing = true;                          // reported with what else cannot be loaded
  options.keep_bytes = keep_bytes;
  options.saved = !raw.Get("load").empty();
  options.progress = std::move(progress);
  options.stop = std::move(stop);
  const std::vector<Source> sources(inputs.begin(), inputs.end());
  return Run::Open(sources, options);
}

Result<void> CheckInputs(const RawOptions& raw) {
  if (raw.inputs.empty() && raw.Get("load").empty()) {
    return UsageError("no INPUT; name a trace file, a directory of them, or - for standard input");
  }
  if (!raw.inputs.empty() && !raw.Get("load").empty()) {
    return UsageError("--load answers without a trace; leave out INPUT, or --load");
  }
  return {};
}

Result<Answer> AskQuestion(const Command& command, const OutputOptions& output) {
  BS_TRY(CheckInputs(command.raw));
  BS_TRY(CheckQuestion(QuestionOf(command)));
  ProgressBar bar(command.raw);
  Command asked = command;
  BS_ASSIGN(const std::optional<ScrubbedCopies> copies, ScrubInputs(asked.raw, bar.Callback()));
  const Destination destination{output.writer->name, output.path};
  const bool is_comparison = command.analyses.size() == 1 && command.analyses.front()->takes_two;
  return is_comparison ? AskTwo(asked, destination, bar.Callback())
                       : AskOne(asked, destination, bar.Callback());
}

}  // namespace borescope::cli
