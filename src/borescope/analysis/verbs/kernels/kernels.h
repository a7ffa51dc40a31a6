// What other verbs take of `kernels`.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// The memcpys and memsets of `kernels --all`, a table of the columns of its first: merged with the
// rows of `kernels` it is that one. By the keys and the selection of `params`.
Result<Tables> MapCopiesOfKernels(const RankView& view, const Params& params);

}  // namespace borescope::internal
