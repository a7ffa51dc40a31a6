#include "borescope/engine/partial/run_partials.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/version.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/loading/attach_counters.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

namespace {

// False also where the system cannot tell: then the part is made again.
bool IsOlder(const std::string& file, int64_t written_ns) {
  const Result<std::optional<FileState>> state = FileState::Of(file);
  return state.ok() && state->has_value() && (*state)->written_ns < written_ns;
}

bool AreOlder(const std::vector<std::string>& files, int64_t written_ns) {
  return std::all_of(files.begin(), files.end(),
                     [&](const std::string& file) { return IsOlder(file, written_ns); });
}

using Paths = std::set<std::string_view>;

Paths PathsOf(const PartialData& partial) {
  Paths paths;
  for (const PartialFile& file : partial.files) {
    paths.insert(file.path);
  }
  return paths;
}

// Whether the graphs that a file launches were searched in the same files. Those that capture
// graphs among the files of the part are searched, too.
bool SearchedTheSame(const GraphRoles& roles, const InputFile& file, const Paths& of_part) {
  if (!roles.may_replay) {
    return true;
  }
  const Paths searched(roles.searched.begin(), roles.searched.end());
  const Paths named(file.captures.begin(), file.captures.end());
  return std::includes(searched.begin(), searched.end(), named.begin(), named.end()) &&
         std::all_of(searched.begin(), searched.end(), [&](std::string_view path) {
           return named.contains(path) || of_part.contains(path);
         });
}

// A file that was passed over, or failed, has no size in the partial.
bool IsAsMapped(const PartialFile& mapped, const InputFile& file, int64_t written_ns) {
  const bool has_size = !mapped.load_error.has_value();
  const bool was_opened = has_size || mapped.load_error->code != ErrorCode::kIo;
  return was_opened && !file.content && mapped.path == file.path &&
         (!has_size || mapped.file_bytes == file.bytes) && IsOlder(file.path, written_ns) &&
         AreOlder(file.captures, written_ns) && AreOlder(file.logs, written_ns) &&
         AreOlder(file.passes, written_ns);
}

// Those that are mapped are in the natural order of their paths, each once.
std::vector<const InputFile*> InOrder(std::span<const InputFile> files) {
  std::vector<const InputFile*> ordered;
  for (const InputFile& file : files) {
    ordered.push_back(&file);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const InputFile* a, const InputFile* b) {
    return NaturalLess(a->path, b->path);
  });
  return ordered;
}

// Where files and folders of options are: another folder may hold other files, of which the partial
// says nothing.
bool NamesTheSamePaths(const Params& a, const Params& b) {
  return std::all_of(a.values.begin(), a.values.end(), [&](const ParamValue& value) {
    return std::any_of(b.values.begin(), b.values.end(), [&](const ParamValue& other) {
      return other.name == value.name && other.text == value.text;
    });
  });
}

bool IsAsked(const MappedQuestion& mapped, const MappedQuestion& asked) {
  return DifferenceOf(mapped, asked).empty() && NamesTheSamePaths(mapped.params, asked.params);
}

bool HoldsQuestions(const PartialData& partial, std::span<const MappedQuestion> questions,
                    const std::optional<ShardMark>& shard) {
  const std::vector<ShardMark> marks =
      shard.has_value() ? std::vector{*shard} : std::vector<ShardMark>();
  return partial.major == kPartialMajor && partial.minor == kPartialMinor &&
         partial.program_version == Version() && partial.shards == marks &&
         IsAsked(partial.question, questions.front()) &&
         std::equal(partial.further.begin(), partial.further.end(), questions.begin() + 1,
                    questions.end(),
                    [](const PartialData& further, const MappedQuestion& question) {
                      return IsAsked(further.question, question);
                    });
}

}  // namespace

std::optional<PartialData> FindKept(const std::string& path,
                                    std::span<const MappedQuestion> questions,
                                    std::span<const InputFile> files,
                                    const std::optional<ShardMark>& shard) {
  const Result<std::optional<FileState>> found = FileState::Of(path);
  if (!found.ok() || !found->has_value()) {
    return std::nullopt;
  }
  const std::optional<FileState>& state = *found;
  // All of it: a damaged one is none.
  const Result<std::string> bytes = ReadPartialFile(path);
  Result<PartialData> partial =
      bytes.ok() ? ParsePartial(*bytes, path) : Result<PartialData>(bytes.error());
  if (!partial.ok() || !HoldsQuestions(*partial, questions, shard)) {
    return std::nullopt;
  }
  // A part does not say which reports of counters it was made with.
  if (!files.empty() && files.front().counters != nullptr) {
    return std::nullopt;
  }
  const Paths of_part = PathsOf(*partial);
  const std::vector<const InputFile*> ordered = InOrder(files);
  const bool is_same =
      std::equal(partial->files.begin(), partial->files.end(), ordered.begin(), ordered.end(),
                 [&](const PartialFile& mapped, const InputFile* file) {
                   return IsAsMapped(mapped, *file, state->written_ns) &&
                          SearchedTheSame(mapped.graphs, *file, of_part);
                 });
  return is_same ? std::optional(std::move(*partial)) : std::nullopt;
}

namespace {

Result<void> CheckCanTravel(std::span<const AnalysisSpec* const> specs, const RunOptions& options) {
  if (!options.overlay.empty() || !options.save.empty()) {
    return UsageError(fmt::format("{} is written with a finished answer",
                                  options.overlay.empty() ? "`save`" : "`overlay`"),
                      "leave it out to map");
  }
  for (const AnalysisSpec* spec : specs) {
    if (spec->takes_two()) {
      return UsageError(
          fmt::format("{}: it compares two runs, and a partial is of one", spec->name),
          "run it where both are");
    }
  }
  return {};
}

// Reducing would refuse verbs whose tables have one name: better before they are mapped.
Result<void> CheckTablesDiffer(std::span<const AnalysisSpec* const> specs, const Params& params) {
  Tables all;
  for (const AnalysisSpec* spec : specs) {
    Result<Tables> tables = AnswerShape(*spec, params);
    if (tables.ok()) {
      std::move(tables->begin(), tables->end(), std::back_inserter(all));
    }
  }
  return CheckDistinct(all);
}

PartialFile FileOf(RankPart part, bool for_check) {
  PartialFile file;
  if (for_check) {
    file.checked.emplace().window = part.window;
  }
  file.path = std::move(part.report.path);
  file.from_directory = part.from_directory;
  file.claim = part.claim;
  file.rank = part.report.rank;
  file.file_bytes = part.report.file_bytes;
  file.text_bytes = part.report.text_bytes;
  file.events = part.report.events;
  file.begin_ns = part.report.begin_ns;
  file.diagnostics = std::move(part.diagnostics);
  file.load_error = std::move(part.load_error);
  file.skipped = part.report.skipped;
  file.unknown = std::move(part.unknown);
  file.outcomes = std::move(part.outcomes);
  file.graphs = std::move(part.graphs);
  return file;
}

Result<PartialData> MapOne(std::span<const AnalysisSpec* const> specs, const RunOptions& given,
                           const MapOptions& map) {
  RunOptions options = given;
  PartialData partial;
  BS_ASSIGN(partial.question, UnderstandQuestion(specs, options, map));
  RunRequest request{specs, options.files, options.ranks, options.params, options};
  request.reads_files = !map.for_report;
  request.is_part = true;
  std::vector<RankPart> parts;
  if (!options.files.empty()) {  // there may be more parts than files
    BS_ASSIGN(parts, MapFiles(request));
  }
  const bool tells = !map.shard.has_value() || map.shard->index == 0;
  if (!parts.empty() && options.files.front().counters != nullptr && tells) {
    for (const OddReports& odd : options.files.front().counters->odd) {
      parts.front().diagnostics.Merge(odd.diagnostics);
    }
  }
  partial.program_version = Version();
  if (map.shard.has_value()) {
    partial.shards.push_back(*map.shard);
  }
  partial.files.reserve(parts.size());
  for (RankPart& part : parts) {
    partial.files.push_back(FileOf(std::move(part), map.for_check));
  }
  std::vector<PartialData> one;
  one.push_back(std::move(partial));
  return MergePartials(std::move(one));
}

Result<std::optional<PartialData>> FindOne(const std::string& path,
                                           std::span<const AnalysisSpec* const> specs,
                                           const RunOptions& given, const MapOptions& map) {
  RunOptions options = given;
  BS_ASSIGN(const MappedQuestion question, UnderstandQuestion(specs, options, map));
  return FindKept(path, {&question, 1}, options.files, map.shard);
}

Result<AnswerData> JoinAndAnswer(PartSource& source, const RunOptions& shown,
                                 const JoinOptions& join) {
  BS_ASSIGN(JoinedRun joined, JoinPartials(source, join));
  if (joined.question.for_report) {
    return UsageError("these are parts of a report", "borescope report makes the page of them");
  }
  if (joined.question.for_check) {
    return UsageError("these are parts of a check", "borescope check makes the verdict of them");
  }
  RunOptions options = shown;
  options.files = std::move(joined.files);
  options.ranks = joined.question.ranks;
  options.params = joined.question.params;
  return AnswerOf(joined.question.verbs, options, joined.run);
}

}  // namespace

Result<MappedQuestion> UnderstandQuestion(std::span<const AnalysisSpec* const> specs,
                                          RunOptions& options, const MapOptions& map) {
  BS_TRY(CheckCanTravel(specs, options));
  if (!map.for_report) {
    BS_TRY(Prepare(specs, options));
  }
  if (!map.for_report && !map.for_check) {
    BS_TRY(CheckTablesDiffer(specs, options.params));
  }
  return MappedQuestion{
      {specs.begin(), specs.end()}, options.params, options.ranks, map.for_report, map.for_check};
}

Result<PartialData> MapPartial(std::span<const AnalysisSpec* const> specs,
                               const RunOptions& options, const MapOptions& map) {
  return WithNumberedRows(
      [&] { return Stoppable(options.stop, [&] { return MapOne(specs, options, map); }); });
}

Result<std::optional<PartialData>> FindMapped(const std::string& path,
                                              std::span<const AnalysisSpec* const> specs,
                                              const RunOptions& options, const MapOptions& map) {
  return WithNumberedRows(
      [&] { return Stoppable(options.stop, [&] { return FindOne(path, specs, options, map); }); });
}

Result<AnswerData> ReducePartials(PartSource& source, const RunOptions& shown,
                                  const JoinOptions& join) {
  return WithNumberedRows(
      [&] { return Stoppable(shown.stop, [&] { return JoinAndAnswer(source, shown, join); }); });
}

}  // namespace borescope::internal
