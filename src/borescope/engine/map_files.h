// The files of a run, each on its way from path to tables: load, index, map, free.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/answer.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/inputs/run_options.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/index/trace_index.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

// What one analysis made of one rank.
struct Outcome {
  std::optional<Error> error;
  Tables tables;
};

Outcome OutcomeOf(Result<Tables> tables);

// Which part a file has in the graphs of a run, which is known once all files are mapped.
struct GraphRoles {
  bool may_replay = false;            // it may launch some
  bool only_captures = false;         // it captures some, and launches none
  std::vector<std::string> captures;  // files in which those that it launches were captured
  std::vector<std::string> searched;  // files that were searched for that

  bool operator==(const GraphRoles&) const = default;
};

// One file. The trace itself does not outlive its mapping unless the request keeps it.
struct RankPart {
  FileInfo report;
  RankClaim claim;
  bool from_directory = false;
  Diagnostics diagnostics;
  std::optional<Error> load_error;
  // The numbers of the selection that it does not have; nothing if that is not known.
  std::optional<SelectionMembers> unknown;
  std::vector<Outcome> outcomes;  // one per analysis
  GraphRoles graphs;
  RecordedWindow window;
  // Files of --overlay and --save, which wait for their Commit.
  std::vector<std::unique_ptr<FileSink>> drafts;
  std::shared_ptr<const LoadedTrace> trace;  // nullptr unless kept

  bool loaded() const { return !load_error.has_value(); }
};

// One run: a list of files, and what of them is wanted.
struct RunRequest {
  std::span<const AnalysisSpec* const> specs;
  std::span<const InputFile> files;
  const NumberRanges& ranks;  // empty = all
  const Params& params;
  // Used for resources, and for what is written beside the answer. Never for files, ranks and
  // params, which differ for the second run of a comparison.
  const RunOptions& options;
  std::string_view name = "";  // which run of a comparison: "base", "test"
  bool keep_traces = false;    // hand them over with their parts
  bool reads_files = false;    // call Pipeline::read_files
  bool is_part = false;        // other processes map other files of the run
};

// Sets what the report says about a file that could not be loaded, which follows from its part.
void SetLoadReport(RankPart& part);

// One analysis over one rank, its needs checked.
Result<Tables> MapTrace(const AnalysisSpec& spec, const Params& params, const RankView& view);

// Every file of the request, several at once, in their order. What is wrong with one is in its
// part; an error only if one alone needs more memory than there may be.
Result<std::vector<RankPart>> MapFiles(const RunRequest& request);

// Files of a run that hold how graphs were captured which other files launch. Those are no ranks.
// Pure.

// Whether graphs that the file launches may have been captured in another one.
bool MayUseCaptures(const RankPart& part);

// The paths of those that do nothing but capture graphs.
std::vector<std::string> CapturesAmong(const std::vector<RankPart>& parts);

// Files that do nothing but capture graphs which others launch become files that were passed over.
void SetAsideCaptures(std::vector<RankPart>& parts);

// Of files that hold one recording (a trace beside its compressed copy) the first by name counts;
// the others become files that were passed over, and its diagnostics say so.
void SetAsideCopies(std::vector<RankPart>& parts);

// An error where a file launches graphs, and was mapped without a file of the run that captures
// some: the answer would not be that of one process which maps both.
Result<void> CheckCapturesWereSearched(const std::vector<RankPart>& parts);

}  // namespace borescope::internal
