// From the findings of the ranks to the tables of an analysis.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/moments.h"
#include "borescope/session/run_ranks.h"

namespace borescope {

// What a rank does not hold: the verbs that ask for it, and the first one's error.
struct RankLack {
  std::vector<std::string_view> verbs;
  std::string error;
};
using Lacks = std::map<RankPart*, RankLack>;

// Counts what ranks lack among what was found odd in their files, beside whose path it will stand.
void CountLacks(const Lacks& lacks);

// The tables of all ranks.
Result<Findings> ReduceAndFinish(const Pipeline& pipeline, const Params& params,
                                 std::span<const Findings> findings);

// The reduced tables of analysis `index` of the request, which is `spec`, to be compared with those
// of another run. What some ranks lack is added to `lacks`. An error when none could answer, or
// when what was asked for is wrong whatever the rank.
Result<Findings> ReduceOne(const AnalysisSpec& spec, size_t index, const Params& params,
                           const MappedRun& run, Lacks& lacks);

// The finished tables of it. What ranks lack is told beside an answer only: after an error `lacks`
// is as it was.
Result<Findings> ConcludeOne(const AnalysisSpec& spec, size_t index, const Params& params,
                             const MappedRun& run, Lacks& lacks);

// Where the recording of each selected rank begins.
std::vector<RankBegin> BeginsOf(const MappedRun& run);

}  // namespace borescope
