// The database of rocmProfileData: docs/formats/rpd.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/ingest/database.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Which rows of rocpd_api are no calls of the runtime.

// Whether a row of rocpd_api is a range or mark of the user, by its name; and whether it is the
// tracer's own work.
bool IsMarkerName(std::string_view api_name);
bool IsTracerName(std::string_view api_name);

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
