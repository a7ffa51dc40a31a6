// The length of each step, divided three ways. Internal to variance/.
#pragma once

#include <string_view>
#include <vector>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/variance/part_sums.h"

namespace borescope::internal {

enum class PartsOf : uint8_t {
  kPath,       // the critical path, by what it is bound by and the event it is in
  kBreakdown,  // compute, exposed communication and copies, and idle time of all devices together
  kOps,        // the innermost event of the thread that runs the step; of windows on the host
};
std::string_view PartsOfName(PartsOf parts);

// As asked with --parts; else the path, or the breakdown where no waits were recorded.
PartsOf ChooseParts(const RankView& view, std::string_view asked);

struct DividedSteps {
  StepSpans spans;
  std::vector<StepPart> parts;  // those of each step add up to its length
};

// `steps`: their numbers, all if empty. `params`: as for SharedPathGraph. O(rows log rows).
DividedSteps DivideSteps(const RankView& view, const Selected& selected, const NumberRanges& steps,
                         PartsOf parts, const Params& params);

}  // namespace borescope::internal
