// From the tables of the ranks to the tables of an analysis.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/engine/map_run.h"
#include "borescope/output/units/timestamps.h"

namespace borescope::internal {

// What a rank does not hold: the verbs that ask for it, and the first one's error.
struct RankMissing {
  std::vector<std::string_view> verbs;
  Error error;
};
using MissingByRank = std::map<RankPart*, RankMissing>;

// Counts what ranks lack among what was found odd in their files, beside whose path it will stand.
void CountMissing(const MissingByRank& lacks);

// The tables of all ranks.
Result<Tables> ReduceAndFinish(const Pipeline& pipeline, const Params& params,
                               std::span<const Tables> tables);

// The reduced tables of analysis `index` of the request, which is `spec`, to be compared with those
// of another run. What some ranks lack is added to `lacks`. An error when none could answer, or
// when what was asked for is wrong whatever the rank.
Result<Tables> ReduceOne(const AnalysisSpec& spec, size_t index, const Params& params,
                         MappedRun& run, MissingByRank& lacks);

// The finished tables of it. What ranks lack is told beside an answer only: after an error `lacks`
// is as it was.
Result<Tables> ConcludeOne(const AnalysisSpec& spec, size_t index, const Params& params,
                           MappedRun& run, MissingByRank& lacks);

// Where the recording of each selected rank begins.
std::vector<RankBegin> BeginsOf(const MappedRun& run);

}  // namespace borescope::internal
