// The one place where everything meets: files become traces, traces become indexes, an analysis is
// mapped over the ranks and reduced, and the answer becomes a document for any writer.
//
// Thread-safe: calls share nothing. Nothing here prints. Exceptions of third parties (memory) pass
// through to the caller, from worker threads too; that of a stop ends here.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/answer.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/run_options.h"
#include "borescope/engine/map_run.h"
#include "borescope/output/units/timestamps.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// What was asked for, before it has a format.
struct AnswerData {
  Document document;
  std::vector<FileInfo> files;  // in the order of RunOptions::files
};

// Runs analyses over a run. Errors:
//   kInvalidArgument  an option the analysis does not have, an unknown column or rank
//   kMissingData      no rank holds what the analysis needs; names the profiler option to turn on
//   else              no file could be loaded
// A file that fails while others do not is counted in the document's diagnostics.
//
// Ranks run in parallel, and each trace is freed once mapped, so that memory follows the ranks in
// flight. `memory_limit` lowers their number, by an estimate and by what is seen (memory_limit.h),
// and is an error only where a single rank exceeds it. Ranks are selected after loading: the file
// says which rank it is.
//
// Several analyses share one load of every file; those whose data is missing are left out and
// reported if any other has an answer. Overlays appear last, of the ranks that were selected, and
// none when anything failed.
Result<AnswerData> RunAnalyses(std::span<const AnalysisSpec* const> specs,
                               const RunOptions& options);
Result<AnswerData> RunAnalysis(const AnalysisSpec& spec, const RunOptions& options);

struct MappedRun;

// Both halves of it, for those who map here and reduce elsewhere. The first makes the options
// complete and checks them; the second answers from what was mapped, by whatever process, of which
// `options` say the params, the files and how the answer is shown.
Result<void> Prepare(std::span<const AnalysisSpec* const> specs, RunOptions& options);
Result<AnswerData> AnswerOf(std::span<const AnalysisSpec* const> specs, const RunOptions& options,
                            MappedRun& run);

// kInvalidArgument for a table of one name twice, which would be one file written twice.
Result<void> CheckDistinct(const Tables& tables);

// Whether any table of the analysis can be drawn, by a format that draws.
bool HasPicture(const AnalysisSpec& spec);

// Progress of work that loads one run after another.

// All of a run, nothing of it done.
Progress ProgressAtStart(std::span<const InputFile> files);

// The options of one run of a comparison, whose progress is reported as that of both: `before` is
// done already, `after` comes later. Calls options.progress, which must outlive what is returned.
RunOptions OptionsOfPart(const RunOptions& options, const Progress& before, const Progress& after);

// From the tables of the ranks to the tables of an analysis.

// What a rank does not hold: the verbs that ask for it, and the first one's error.
struct RankMissing {
  std::vector<std::string_view> verbs;
  Error error;
};
using MissingByRank = std::map<RankPart*, RankMissing>;

// Counts what ranks lack among the diagnostics of their files.
void CountMissing(const MissingByRank& lacks);

// The tables of all ranks.
Result<Tables> ReduceAndFinish(const Pipeline& pipeline, const Params& params,
                               std::span<const Tables> tables);

// The reduced tables of analysis `index` of the request, which is `spec`, to be compared with those
// of another run. What some ranks lack is added to `lacks`. An error when none could answer, or
// when what was asked for is wrong whatever the rank.
Result<Tables> ReduceOne(const AnalysisSpec& spec, size_t index, const Params& params,
                         MappedRun& run, MissingByRank& lacks);

// The finished tables of it. What ranks lack is reported beside an answer only: after an error
// `lacks` is unchanged.
Result<Tables> ConcludeOne(const AnalysisSpec& spec, size_t index, const Params& params,
                           MappedRun& run, MissingByRank& lacks);

// Where the recording of each selected rank begins.
std::vector<RankBegin> BeginsOf(const MappedRun& run);

}  // namespace borescope::internal
