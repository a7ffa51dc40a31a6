// When two traces are not linked at all, and what to do about it.
#pragma once

#include "borescope/base/result.h"
#include "borescope/packs/chakra/link/link_plan.h"

namespace borescope::internal::chakra {

// kMissingData where no operator is in both traces, or no device work hangs under one.
Result<void> CheckLinked(const LinkCounts& counts);

}  // namespace borescope::internal::chakra
