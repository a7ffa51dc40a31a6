// The one place where everything meets: files become traces, traces become indexes, an analysis is
// mapped over the ranks and reduced, and the answer becomes a document for any writer.
//
// Thread-safe: calls share nothing. Nothing here prints. Exceptions of third parties (memory) pass
// through to the caller, from worker threads too; that of a stop ends here.
#pragma once

#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/answer.h"
#include "borescope/base/result.h"
#include "borescope/engine/run_options.h"
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
// and is an error only where a single rank exceeds it. Selecting ranks comes after loading: which
// rank a file is stands in the file.
//
// Several analyses share one load of every file; those whose data is missing are left out and told
// while any has an answer. Overlays appear last, of the ranks that were selected, and none when
// anything failed.
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

}  // namespace borescope::internal
