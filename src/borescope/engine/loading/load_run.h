// Loads a run to keep it: every trace with its indexes, for what asks more than one question of it.
// Analyses, which need a rank once, free each trace as they go (map_files.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

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

// Of `options` it takes the files, ranks, threads, memory limit (of what is loaded at once),
// stop and progress. Errors as those of RunAnalyses about files and ranks.
Result<LoadedRun> LoadRun(const RunOptions& options);

}  // namespace borescope::internal
