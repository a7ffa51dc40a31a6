#include "borescope/engine/partial/run_partials.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/version.h"
#include "borescope/engine/answer_shape.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/kept_part.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
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
