// How long a text or blob may be while a statement runs. SQLite looks at the time only where a
// program loops: what lies between two such places is bounded by the number of its operations times
// the length of their values.
#pragma once

#include <sqlite3.h>

#include <cstddef>

namespace borescope::internal::query {

inline constexpr int kLongestValue = 1 << 24;  // bytes

// The operations of the program of `statement` that may take as long as a value is long.
size_t CountValueOperations(sqlite3_stmt* statement);

// In bytes: 16 MiB for up to 64 operations, and less for more, so that all together touch 1 GiB.
int LongestValueFor(size_t operations);

}  // namespace borescope::internal::query
