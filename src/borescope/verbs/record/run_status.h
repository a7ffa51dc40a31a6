// `record status`: the logs of a run as a table.
#pragma once

#include <string>

#include "borescope/base/result.h"
#include "borescope/engine/run_analyses.h"

namespace borescope::internal {

// Table `processes`: a row per log, sorted by the name of its file. kInvalidArgument if `folder` is
// no folder of a run.
Result<Document> StatusOfRun(const std::string& folder);

}  // namespace borescope::internal
