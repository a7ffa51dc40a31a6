// What keeps columns that were read from elsewhere from being a table. Pure.
#pragma once

#include <string>

#include "borescope/table/table.h"

namespace borescope::internal {

// What the table has and must not have, in words that follow "has"; empty if nothing: "two columns
// of one name".
std::string FaultOf(const Table& table);

}  // namespace borescope::internal
