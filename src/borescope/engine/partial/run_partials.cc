#include "borescope/engine/partial/run_partials.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/base/version.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

Result<void> CheckCanTravel(std::span<const AnalysisSpec* const> specs, const RunOptions& options) {
  if (!options.overlay.empty() || !options.save.empty()) {
    return UsageError(fmt::format("{} is written with a finished answer; leave it out to map",
                                  options.overlay.empty() ? "--save" : "--overlay"));
  }
  for (const AnalysisSpec* spec : specs) {
    if (spec->takes_two()) {
      return UsageError(
          fmt::format("{}: it compares two runs, and a partial is of one; run it "
                      "where both are",
                      spec->name));
    }
  }
  return {};
}

PartialFile FileOf(RankPart part) {
  PartialFile file;
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
  file.unknown = std::move(part.unknown);
  file.outcomes = std::move(part.outcomes);
  return file;
}

Result<PartialData> MapOne(std::span<const AnalysisSpec* const> specs, const RunOptions& given) {
  BS_TRY(CheckCanTravel(specs, given));
  RunOptions options = given;
  BS_TRY(Prepare(specs, options));
  RunRequest request{specs, options.files, options.ranks, options.params, options};
  request.reads_files = true;
  BS_ASSIGN(std::vector<RankPart> parts, MapFiles(request));
  PartialData partial;
  partial.program_version = Version();
  partial.question = {{specs.begin(), specs.end()}, options.params, options.ranks};
  partial.files.reserve(parts.size());
  for (RankPart& part : parts) {
    partial.files.push_back(FileOf(std::move(part)));
  }
  std::vector<PartialData> one;
  one.push_back(std::move(partial));
  return MergePartials(std::move(one));
}

Result<Answer> JoinAndAnswer(std::vector<PartialData> partials, const RunOptions& shown) {
  BS_ASSIGN(JoinedRun joined, JoinPartials(std::move(partials)));
  RunOptions options = shown;
  options.files = std::move(joined.files);
  options.ranks = joined.question.ranks;
  options.params = joined.question.params;
  return AnswerOf(joined.question.verbs, options, joined.run);
}

}  // namespace

Result<PartialData> MapPartial(std::span<const AnalysisSpec* const> specs,
                               const RunOptions& options) {
  return WithNumberedRows(
      [&] { return Stoppable(options.stop, [&] { return MapOne(specs, options); }); });
}

Result<Answer> ReducePartials(std::vector<PartialData> partials, const RunOptions& shown) {
  return WithNumberedRows([&] {
    return Stoppable(shown.stop, [&] { return JoinAndAnswer(std::move(partials), shown); });
  });
}

}  // namespace borescope::internal
