// The ranks of a run: its files are mapped (map_files.h), each gets its rank, and the ranks that
// are wanted are selected. Which rank a file is becomes clear only when all are known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/answer.h"
#include "borescope/engine/inputs/run_options.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/map_files.h"

namespace borescope::internal {

// The tables of one analysis over the selected ranks, where not each rank's are kept: those of some
// ranks may be reduced to one.
struct FoldedTables {
  std::optional<Error> error;  // of the reduce; there are no tables then
  std::vector<Tables> tables;
};

struct MappedRun {
  std::vector<RankPart> parts;      // in the order of the files
  std::vector<RankPart*> selected;  // loaded and wanted, in rank order; point into `parts`
  Diagnostics diagnostics;          // of the run as a whole
  std::shared_ptr<const CountersOfRun> counters;  // that were given for it; nullptr: none
  // One per analysis, in place of the tables of the parts' outcomes; empty where these have them.
  std::vector<FoldedTables> folded;
};

// Loads and maps every file, several at once. An error when no file could be loaded, no rank is
// wanted. Exceptions of third parties pass through.
Result<MappedRun> MapRun(const RunRequest& request);

// What follows once every file is mapped, by whatever process: which rank each is, and which of
// them are wanted. `run_name` as RunRequest::name. Errors as MapRun's about ranks and files.
Result<MappedRun> TellRanksApart(std::vector<RankPart> parts, const NumberRanges& ranks,
                                 std::string_view run_name);

// Tables are mapped under a provisional rank. Analyses name ranks in a column `rank` and nowhere
// else before their reduce.
void SetRank(Tables& tables, int64_t rank);

// How many ranks are taken to share what an answer may take (Params::sharing): while files are
// mapped, when some may turn out to be no ranks, or not to be wanted; and of all of them. For few
// files the first is one, so that the ranks of a file share the whole; the second is never less.
size_t RanksForSure(size_t files);
size_t SharingRanks(const MappedRun& run);

// The files drafted for the selected ranks appear, those of others vanish.
Result<void> CommitDrafts(MappedRun& run);

// Files that could not be read, ranks that are missing or claimed twice.
std::vector<RunFault> FaultsOf(const MappedRun& run);

// The diagnostics of the run, then those of the files that the answer is about and of those that
// failed; and the ranks of the job without a file, unless a single file or some of the ranks were
// selected.
std::vector<Diagnostic> CollectDiagnostics(MappedRun& run);

// The reports of the files, in their order, which are moved out of the run.
std::vector<FileInfo> TakeReports(MappedRun& run);

// Loads a run to keep it: every trace with its indexes, for what asks more than one question of it.
// Analyses, which need a rank once, free each trace as they go (map_files.h).

struct LoadedRank {
  int64_t rank = 0;
  std::string path;         // as the user named it
  Diagnostics diagnostics;  // of reading and indexing
  std::shared_ptr<const LoadedTrace> loaded;
};

struct LoadedRun {
  std::vector<LoadedRank> ranks;  // those asked for, in rank order; at least one
  std::vector<FileInfo> files;    // in the order of RunOptions::files
  std::vector<Diagnostic> diagnostics;
};

// It uses the files, ranks, threads, memory limit (of what is loaded at once),
// stop and progress of `options`. Errors are those of RunAnalyses about files and ranks.
Result<LoadedRun> LoadRun(const RunOptions& options);

}  // namespace borescope::internal
