// The database of rocmProfileData: docs/formats/rpd.md.
#pragma once

#include <string_view>

#include "borescope/ingest/database.h"

namespace borescope {

inline constexpr std::string_view kRpdFormat = "rpd";

bool IsRpd(const DatabaseSchema& schema);

// Repairs and rows left out are counted in Trace::diagnostics(); an unreadable table is an error.
Result<Trace> LoadRpd(DatabaseInput input);

}  // namespace borescope
