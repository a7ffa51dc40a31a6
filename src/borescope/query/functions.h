// Functions of SQL for questions about time, beside those of SQLite. docs/use/sql.md has them.
#pragma once

#include <span>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"

namespace borescope::internal::query {

struct FunctionRow {
  std::string_view name;
  std::string_view signature;
  std::string_view doc;
};
std::span<const FunctionRow> Functions();

Result<void> RegisterFunctions(SqlDatabase& database);

}  // namespace borescope::internal::query
