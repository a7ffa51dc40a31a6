// The database of rocprofv3: docs/formats/rocpd.md.
#pragma once

#include "borescope/ingest/database.h"

namespace borescope::internal {

bool IsRocpd(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadRocpd(DatabaseInput input);

}  // namespace borescope::internal
