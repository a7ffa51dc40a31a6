// Files of a run that hold how graphs were captured which other files launch. Those are no ranks.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "borescope/engine/map_files.h"

namespace borescope::internal {

// Whether graphs that the file launches may have been captured in another one.
bool MayUseCaptures(const RankPart& part);

// The paths of those that do nothing but capture graphs.
std::vector<std::string> CapturesAmong(const std::vector<RankPart>& parts);

// Files that do nothing but capture graphs which others launch become files that were passed over.
void SetAsideCaptures(std::vector<RankPart>& parts);

// An error where a file launches graphs, and was mapped without a file of the run that captures
// some: the answer would not be that of one process which maps both.
Result<void> CheckCapturesWereSearched(const std::vector<RankPart>& parts);

}  // namespace borescope::internal
