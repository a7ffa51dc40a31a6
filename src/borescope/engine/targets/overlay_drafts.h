// What --overlay writes: whether it may, and the drafts beside their targets.
#pragma once

#include <span>

#include "borescope/base/result.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

// An error when these analyses draw nothing on such inputs; targets.h checks where it would be
// written. REQUIRES: options.overlay is not empty.
Result<void> CheckOverlay(std::span<const AnalysisSpec* const> specs, const RunOptions& options);

// Whether the text breaks the rules of JSON in places other than its end, so that events cannot be
// found again in it.
bool HasDamagedText(const Diagnostics& found);

// Writes the overlay of one rank to a file beside its target, which `part` keeps.
Result<void> DraftOverlay(const RunRequest& request, const RankView& view, const InputFile& input,
                          RankPart& part);

}  // namespace borescope::internal
