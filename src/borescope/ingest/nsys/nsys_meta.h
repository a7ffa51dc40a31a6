// Metadata in an export of Nsight Systems about itself and the machine.
#pragma once

#include "borescope/ingest/database.h"

namespace borescope::internal {

// Fills producer, base_ns and devices from the existing tables.
Result<void> ReadNsysMeta(const DatabaseInput& input, Meta& meta, Diagnostics& diagnostics);

}  // namespace borescope::internal
