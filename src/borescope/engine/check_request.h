// What must hold before an analysis is mapped over a rank. Pure.
#pragma once

#include <span>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/result.h"
#include "borescope/engine/inputs/run_options.h"

namespace borescope::internal {

// kInvalidArgument when `params` holds an option that the analysis does not define.
Result<void> CheckOptions(const AnalysisSpec& spec, const Params& params);

// kMissingData when the trace lacks what the analysis needs, which may be when things happened; the
// message names the option of the profiler that records it.
Result<void> CheckNeeds(const AnalysisSpec& spec, const RankView& view);

// Takes the rows out of the tables of a rank that rest on when things happened, where the recording
// is a report of counters that does not say so.
void DropTablesOfOrder(const AnalysisSpec& spec, const Trace& trace, Tables& tables);

// kInvalidArgument when these analyses cannot be asked for together, or the overlay not be written.
Result<void> CheckTogether(std::span<const AnalysisSpec* const> specs, const RunOptions& options);

}  // namespace borescope::internal
