// What travels from the map of `variance` to its finish: the steps of each rank and their parts.
//   ranks  rank, parts
//   steps  rank, step, is_first, span_ns, work
//   parts  rank, step, cause, name, ns
// Steps are in the order of their begins; several may have one number. `step` of `parts` is a row
// among the steps of the rank, from 0. Internal to variance/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/variance/step_parts.h"

namespace borescope::internal {

Tables RankTables(const RankView& view, PartsOf parts_of, const StepSpans& spans,
                  const std::vector<int64_t>& work, const std::vector<StepPart>& parts);

// Whether three tables of one rank are such: one row of the rank, steps of positive length,
// and parts of these that add up to their lengths. O(rows).
Result<void> CheckRankTables(std::span<const Table> ranks_steps_parts);

}  // namespace borescope::internal
