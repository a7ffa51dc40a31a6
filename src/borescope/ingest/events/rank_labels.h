// Kineto traces into which those of several ranks were merged: with the rank written before the
// number of each process, as SGLang's merge_profiles does ("[TP00-DP00-PP00-EP00] 83"), or among
// the arguments of each event, as TraceLens's TraceFuse does ("rank": 0, "pid_raw": 83).
#pragma once

#include <string>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

// The labels of the ranks of the file at `path`, a label with the blank after it, or "rank 3" where
// arguments name the rank, in the order of the ranks; empty for every other file, also one with
// events that name no rank, or with more than 512 labels, and for a damaged file. Reads the begin
// of a file, and all of it only where its first events have labels. kIo if it cannot be read.
// REQUIRES: reading it does not change it.
Result<std::vector<std::string>> FindRankLabels(const std::string& path);

}  // namespace borescope::internal
