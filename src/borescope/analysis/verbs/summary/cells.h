// Cells of tables that may be missing. Internal to summary/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/analysis/core/row.h"
#include "borescope/table/table.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// kMissing for a cell that is. REQUIRES: the column exists and holds integers.
inline int64_t CellOrMissing(const Table& table, std::string_view column, size_t row) {
  return table.Find(column)->IsMissing(row) ? kMissing : Ints(table, column)[row];
}

}  // namespace borescope::internal
