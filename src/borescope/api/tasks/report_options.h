// What a report is asked with. Internal to api/.
#pragma once

#include "borescope/engine/run_analyses.h"
#include "borescope/error.h"
#include "borescope/params.h"
#include "borescope/run.h"

namespace borescope {

// Options of RunReport for these runs, which outlive them. kInvalidArgument for a parameter that a
// report does not take.
Result<void> SetReportOptions(const Run& run, const Params& params, const Run* against,
                              internal::RunOptions& options);

}  // namespace borescope
