// The two halves of RunAnalyses on machines of their own: ranks are mapped where their files lie,
// and reduced where the partials meet.
//
// Thread-safe: calls share nothing. Nothing here prints.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

struct MapOptions {
  std::optional<ShardMark> shard;  // which part of the run the files are; nothing: not divided
  bool for_report = false;         // MappedQuestion::for_report
  bool for_check = false;          // MappedQuestion::for_check
};

// The complete question of such a map, checked; the params of `options` become complete, too.
// Errors as those of MapPartial about the question.
Result<MappedQuestion> UnderstandQuestion(std::span<const AnalysisSpec* const> specs,
                                          RunOptions& options, const MapOptions& map);

// Maps the files of `options` and reduces nothing; there may be none. Of the options it takes what
// RunAnalyses takes, but for what is only about the answer: sort, top, accept. A file that cannot
// be loaded is no error here: it travels with the others, and the answer says so. kInvalidArgument
// for --overlay and --save, whose files belong to a finished answer, and for verbs that compare two
// runs.
Result<PartialData> MapPartial(std::span<const AnalysisSpec* const> specs,
                               const RunOptions& options, const MapOptions& map = {});

// What the file at `path` holds, if it is what MapPartial would give (FindKept); nothing else.
// Errors about the question are those of MapPartial.
Result<std::optional<PartialData>> FindMapped(const std::string& path,
                                              std::span<const AnalysisSpec* const> specs,
                                              const RunOptions& options,
                                              const MapOptions& map = {});

// The answer of all files of these partials, as RunAnalyses gives it of the files in the natural
// order of their paths. `shown` says how it is shown: sort, top, accept; questions, files and ranks
// come with the partials. Errors as those of JoinPartials and RunAnalyses.
Result<AnswerData> ReducePartials(PartSource& source, const RunOptions& shown,
                                  const JoinOptions& join = {});

// Whether a part of a run has to be mapped again.

// What the file at `path` holds, if it is a partial of this version that answers these questions,
// the first and PartialData::further, for exactly these files, each of which is as large as it was
// and was last written before the partial was. A partial with a file that could not be opened is
// not kept, as the file may be there by now. What else a trace names, such as its generated
// kernels, is not looked at. That partial, or nothing.
std::optional<PartialData> FindKept(const std::string& path,
                                    std::span<const MappedQuestion> questions,
                                    std::span<const InputFile> files,
                                    const std::optional<ShardMark>& shard);

}  // namespace borescope::internal
