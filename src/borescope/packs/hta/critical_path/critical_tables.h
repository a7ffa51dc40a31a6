#pragma once

#include <cstdint>

#include "borescope/packs/hta/critical_path/critical_path.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Tables of the whole graph of HTA's critical path, for programs that walk it: --graph.

Table HtaCriticalEvents(const HtaCriticalPath& critical, int64_t rank);
Table HtaCriticalNodes(const HtaCriticalPath& critical, int64_t rank);
Table HtaCriticalEdges(const HtaCriticalPath& critical, int64_t rank);

}  // namespace borescope::internal
