// What SQLite says of a statement, in one line that helps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal::query {

// "no such column: nam" and the like get the nearest name that there is; of columns, among those of
// the tables that `sql` names.
Error StatementError(std::string_view message, std::string_view sql);

// A limit in words: "4 GiB", "1.5 MiB".
std::string BytesText(uint64_t bytes);

}  // namespace borescope::internal::query
