// What `info`, `doctor` and `memory` answer about files that are no profiles, but were left by a
// dead job: dumps of PyTorch's flight recorder, memory snapshots, logs and error files
// (docs/use/postmortem.md).
#pragma once

#include <optional>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/diagnostic.h"
#include "borescope/engine/inputs/run_options.h"

namespace borescope::internal {

struct JobAnswer {
  Tables tables;
  std::vector<Diagnostic> diagnostics;
};

// Nothing where no file of the run is of that kind, or where the verb has nothing to say about
// those there are. Of files in a folder, its subfolders are searched, too. Errors: those of the
// analysis, and where the files take more memory than there may be. Stops as stop.h says.
std::optional<Result<JobAnswer>> AnswerOfJob(const AnalysisSpec& spec, const RunOptions& options);

}  // namespace borescope::internal
