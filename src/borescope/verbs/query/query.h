// SQL over the recordings that typed options name, for the rooms that have no Run.
#pragma once

#include "borescope/engine/inputs/run_options.h"
#include "borescope/query.h"

namespace borescope {

struct QueryAccess {
  // Loads what `options` names, as LoadRun does. A stop that they name ends statements, too, and
  // what their limit of memory leaves after loading is that of each statement (without: 4 GiB). Of
  // `limits` the ranks are not used.
  static Result<QuerySession> Open(const internal::RunOptions& options, const QueryOptions& limits);
};

}  // namespace borescope
