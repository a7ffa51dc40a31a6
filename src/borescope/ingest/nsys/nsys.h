// The database of Nsight Systems: docs/formats/nsys.md.
#pragma once

#include "borescope/ingest/database.h"

namespace borescope::internal {

bool IsNsys(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadNsys(DatabaseInput input);

}  // namespace borescope::internal
