#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check/compare_metric.h"
#include "borescope/output/document.h"

namespace borescope::internal {

// The values of runs as a file: what `check --save-baseline` writes and --baseline reads, in the
// form of docs/formats/table-json.md. Medians alone: no steps, and names of kernels only. Pure.

// Whether a file that begins so may be one: it is JSON of ours.
bool MayBeSavedRuns(std::string_view head);

Document SavedRuns(const std::vector<RunValues>& runs);

// Whatever the text is, the result is runs, at least one, or an error.
Result<std::vector<RunValues>> ReadSavedRuns(std::string_view json);

}  // namespace borescope::internal
