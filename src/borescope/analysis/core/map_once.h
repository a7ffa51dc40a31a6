// MapOnce: the map of a verb that other verbs of the same question ask, too.
#pragma once

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// As `kMap`, which is called once in a question about a rank: `summary` shows the heads of tables
// that a report has whole. For Pipeline::map of verbs whose tables are small, as they are copied.
// REQUIRES: whoever asks within one question asks with the same parameters.
template <auto kMap>
Result<Tables> MapOnce(const RankView& view, const Params& params) {
  struct Once {};
  return *view.Shared<Once>([&] { return kMap(view, params); });
}

}  // namespace borescope::internal
