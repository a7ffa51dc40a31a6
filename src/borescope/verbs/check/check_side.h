// One side of a check, read: its runs as recordings, as parts, or as values that were saved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check/compare_metric.h"
#include "borescope/verbs/check/check_run.h"
#include "borescope/verbs/check/measure_run.h"

namespace borescope::internal {

struct Side {
  std::vector<MeasuredRun> measured;
  std::vector<std::vector<RunValues>> saved;  // a group for each file
  std::string first_run;  // of those that were measured, as it was named; empty: none

  std::vector<RunValues> AllValues() const;
  // Files that hold several runs are groups of their own; single runs are one group together.
  std::vector<std::vector<RunValues>> Groups() const;
};

// Each of `inputs` is a run, or parts of runs; parts of one division that are named one by one are
// together what their folder is. `parameter` is where they were named, empty for the runs
// themselves. Errors name it.
Result<Side> ReadSide(const std::vector<std::string>& inputs, std::string_view parameter,
                      const CheckRequest& options, const MeasureOptions& measure);

}  // namespace borescope::internal
