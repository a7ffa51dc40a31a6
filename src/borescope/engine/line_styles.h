// Which answers are lines for scripts (LineForm of output/document.h): here, as analyses know
// nothing of writers.
#pragma once

#include <span>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/output/document.h"

namespace borescope::internal {

// The style of the tables of these analyses, ready to be shown, under these options; kNone for
// most. REQUIRES: the options were checked.
LineStyle LineStyleOf(std::span<const AnalysisSpec* const> specs, const Params& params,
                      std::span<const Table> tables);

}  // namespace borescope::internal
