// The values of runs as a file, which `check --save-baseline` writes and --baseline reads, in the
// format of docs/formats/table-json.md. It has medians, not steps, and no names but those of
// kernels. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check/compare_metric.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// Whether a file that begins with `head` may be such a file: JSON as Borescope writes it.
bool MayBeSavedRuns(std::string_view head);

Document SavedRuns(const std::vector<RunValues>& runs);

// At least one run, or an error, for any text.
Result<std::vector<RunValues>> ReadSavedRuns(std::string_view json);

}  // namespace borescope::internal
