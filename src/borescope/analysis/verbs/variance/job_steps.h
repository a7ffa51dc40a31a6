// The steps of all ranks, and of the job. Internal to variance/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/variance/step_statistics.h"
#include "borescope/base/result.h"

namespace borescope::internal {

struct RankSteps {
  int64_t rank = 0;
  std::vector<MatrixStep> steps;  // by number and occurrence
  std::string parts;              // how they were divided
};

struct JobSteps {
  std::vector<RankSteps> ranks;
  // A single rank gives its own steps and parts. With several ranks, a step of the job is as long
  // as that of the rank that took longest. Its parts are those of the rank that waited least for
  // others, the one with the most time outside of communication: what a typical rank (the lower
  // median) spent on each cause, without a rank; what that rank spent more or less, with it; and as
  // `skew` what the longest rank took longer. Communication is as short as it was on that rank.
  StepMatrix job;
  std::vector<int64_t> left_out;  // the numbers of steps that do not count
  std::string parts;              // how steps were divided; of several ways with commas between
};

// Whether each part is of a step that is in the tables: those of a partial result may hold any
// number. kCorrupt if not.
Result<void> CheckParts(const Tables& tables);

// Tables as of RankTables, of all ranks. REQUIRES: CheckParts is ok. `leaves_out_first`: without
// the steps that were the first of a recording. O(rows log rows).
JobSteps CollectSteps(const Tables& tables, bool leaves_out_first);

}  // namespace borescope::internal
