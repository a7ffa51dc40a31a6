// What work from before the recording is like (align_inherited.h), for people who want to know how
// far that is to be trusted. Both tables are empty where no work was inherited.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Table `inherited`: a row for each device with such work; how it was aligned, and how sure that
// is. Table `inherited_work`: the same work by the step, phase, module and operator of what it is
// like.
Tables InheritedTables(const RankView& view);

}  // namespace borescope::internal
