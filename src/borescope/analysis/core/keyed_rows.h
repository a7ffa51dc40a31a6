// What the typed rows of analyses (table/typed_rows.h) need beside their columns: the key columns
// of --by, and values that may not have been recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "borescope/analysis/core/grouper.h"
#include "borescope/table/table.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// No value where nothing was recorded.
inline std::optional<int64_t> Recorded(int64_t value) {
  return value == kMissing ? std::nullopt : std::optional(value);
}
inline std::optional<std::string_view> Recorded(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// Puts the key columns of --by into a table with one row for each group: those that say where and
// when first, but for the table's own `rank`; those that refine the name after the column `name`.
// `values_of(row)` gives the key values of a row, as GroupKeys::Append filled them.
void InsertKeys(Table& table, std::string_view name, const GroupKeys& keys,
                const std::function<std::span<const int64_t>(size_t row)>& values_of);

}  // namespace borescope::internal
