// Whether a partial that was read can be joined and reduced like one that was just mapped.
#pragma once

#include "borescope/base/result.h"
#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

// kInvalidArgument where this program does not take its question, kCorrupt where its files or
// tables are none that the question leads to.
Result<void> CheckPartial(const PartialData& partial);
// The same of a partial whose tables were not read, without a look at them.
Result<void> CheckPartialHead(const PartialData& partial);

}  // namespace borescope::internal
