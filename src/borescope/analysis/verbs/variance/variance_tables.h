// The tables of variance. Internal to variance/.
#pragma once

#include <vector>

#include "borescope/analysis/verbs/variance/job_steps.h"
#include "borescope/analysis/verbs/variance/step_statistics.h"

namespace borescope::internal {

// How far steps differ: of several ranks the job, then each rank.
Table StepsSpreadTable(const JobSteps& job, const StepSpread& spread);
// What goes with their length.
Table VarianceCausesTable(const JobSteps& job, const StepSpread& spread);
Table SlowStepsTable(const JobSteps& job, const StepSpread& spread);
// Each step in its order: of several ranks those of the job, then of each rank.
Table StepLengthsTable(const JobSteps& job);

}  // namespace borescope::internal
