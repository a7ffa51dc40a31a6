// Functions of SQLite that take as long as the product of two lengths, written again: these take as
// long as the sum, or stop at the deadline of the statement. And printf, whose text may be too
// long, which SQLite answers with NULL.
#pragma once

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/query/row_cursor.h"

namespace borescope::internal::query {

// like, glob, instr, replace, trim, ltrim, rtrim, printf, format. `deadline` outlives the database.
Result<void> RegisterTextFunctions(SqlDatabase& database, const Deadline& deadline);

}  // namespace borescope::internal::query
