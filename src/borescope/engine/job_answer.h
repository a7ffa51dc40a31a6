// What `info`, `doctor` and `memory` answer about files that are no profiles, but were left by a
// dead job: dumps of PyTorch's flight recorder, memory snapshots, logs and error files
// (docs/use/postmortem.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/diagnostic.h"
#include "borescope/engine/inputs/run_options.h"
#include "borescope/engine/map_files.h"
#include "borescope/postmortem/job_files.h"

namespace borescope::internal {

struct JobAnswer {
  Tables tables;
  std::vector<Diagnostic> diagnostics;
};

// The files of a run that are files of the system, each once; of those that were found in folders
// these folders instead if `as_folders`.
std::vector<std::string> NamesToSearch(std::span<const InputFile> files, bool as_folders);

// Whether it is a dump or a snapshot.
bool IsOfJob(const JobFile& file);
// What the files of a run are to a post-mortem. Where one of them is a dump or a snapshot, and was
// found in a folder, the files of its subfolders are among them; `left_out` as in FindJobFiles.
Result<std::vector<JobFile>> FindJobFilesOf(const RunOptions& options,
                                            UnsearchedPlaces* left_out = nullptr);

// Nothing where no file of the run is of that kind, or where the verb has nothing to say about
// those there are. Of files in a folder, its subfolders are searched, too. Errors: those of the
// analysis, and where the files take more memory than there may be. Stops as stop.h says.
std::optional<Result<JobAnswer>> AnswerOfJob(const AnalysisSpec& spec, const RunOptions& options);

// The tables, without rows, that only such answers of a verb have. Pure.
Tables ShapeOfJobAnswer(std::string_view verb);

// What an answer about profiles says where FindJobFilesOf failed: that there are more files than
// are searched. An error where the system refused: then nobody knows what the answer lacks.
Result<Diagnostic> NotSearched(const Error& error);

// What `info` answers about dumps and snapshots beside the profiles of a run; empty without any, or
// where none is of the ranks asked for. What keeps it from reading them is a diagnostic, and what
// keeps it from finding them is what NotSearched says. `profiles`: the files of the run.
Result<JobAnswer> InfoBesideProfiles(const AnalysisSpec& info, const RunOptions& options,
                                     std::span<const RankPart> profiles);

}  // namespace borescope::internal
