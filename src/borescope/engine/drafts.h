// What --overlay and --save write: drafts beside their targets, which appear last; and what --load
// reads in place of a trace.
#pragma once

#include <span>

#include "borescope/base/result.h"
#include "borescope/engine/inputs/run_options.h"
#include "borescope/engine/map_files.h"

namespace borescope::internal {

// What --overlay writes: whether it may, and the drafts beside their targets.

// An error when these analyses draw nothing on such inputs; targets.h checks where it would be
// written. REQUIRES: options.overlay is not empty.
Result<void> CheckOverlay(std::span<const AnalysisSpec* const> specs, const RunOptions& options);

// Whether the text breaks the rules of JSON in places other than its end, so that events cannot be
// found again in it.
bool HasDamagedText(const Diagnostics& found);

// Writes the overlay of one rank to a file beside its target, which `part` keeps.
Result<void> DraftOverlay(const RunRequest& request, const RankView& view, const InputFile& input,
                          RankPart& part);

// What --save writes, and what --load reads in place of a trace.

// Whether --save and --load are defined for the verb.
bool CanBeSaved(const AnalysisSpec& spec);

// An error when these analyses cannot be saved, or not be answered from what was saved.
Result<void> CheckSaved(std::span<const AnalysisSpec* const> specs, const RunOptions& options);

// Writes what the answer of one rank follows from to a file beside its target, which `part` keeps.
Result<void> DraftSaved(const RunRequest& request, const RankView& view, const InputFile& input,
                        RankPart& part);

// Fills `part` from a file that --save wrote. REQUIRES: CheckSaved.
void MapSaved(const RunRequest& request, const InputFile& input, RankPart& part);

}  // namespace borescope::internal
