// The database of rocmProfileData: docs/formats/rpd.md.
#pragma once

#include <string_view>

#include "borescope/ingest/database.h"
#include "borescope/trace/missing_data.h"

namespace borescope::internal {

// Files of the tracer have source and target of copies swapped. A row of rocpd_metadata with this
// tag and value marks a file without this error.
inline constexpr std::string_view kRpdCopyEndsTag = "copy_ends";
inline constexpr std::string_view kRpdCopyEndsRight = "right";

bool IsRpd(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadRpd(DatabaseInput input);

// What to do so that the profiler records it.
std::string_view RpdRemedy(MissingData lack);

}  // namespace borescope::internal
