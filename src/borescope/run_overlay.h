// What --overlay writes: whether it may, the drafts beside their targets, and their appearing.
#pragma once

#include <span>

#include "borescope/base/result.h"
#include "borescope/run_ranks.h"
#include "borescope/session.h"

namespace borescope {

// An error when what these analyses draw cannot be written where the options say. REQUIRES:
// options.overlay is not empty.
Result<void> CheckOverlay(std::span<const AnalysisSpec* const> specs, const RunOptions& options);

// Writes the overlay of one rank to a file beside its target, which `part` keeps.
Result<void> DraftOverlay(const RunRequest& request, const RankView& view, const InputFile& input,
                          RankPart& part);

// The drafts of the selected ranks become files, those of others vanish.
Result<void> CommitOverlays(MappedRun& run);

}  // namespace borescope
