// The database of nvprof: docs/formats/nvprof.md.
#pragma once

#include "borescope/ingest/database.h"

namespace borescope::internal {

bool IsNvprof(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadNvprof(DatabaseInput input);

}  // namespace borescope::internal
