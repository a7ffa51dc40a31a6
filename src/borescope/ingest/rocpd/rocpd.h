// The database of rocprofv3: docs/formats/rocpd.md.
#pragma once

#include <string_view>

#include "borescope/ingest/database.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

bool IsRocpd(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadRocpd(DatabaseInput input);

// What to do so that the profiler records it.
std::string_view RocpdRemedy(MissingData lack);

}  // namespace borescope::internal
