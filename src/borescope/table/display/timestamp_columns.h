// Columns with timestamps rather than durations.
#pragma once

#include "borescope/table/table.h"

namespace borescope::internal {

// Whether the cells are timestamps on the clock of the file: `ts_ns`, `begin_ns`, `slot_end_ns`.
inline bool IsOnClock(const Column& column) {
  const std::string_view name = column.name;
  return name == "ts_ns" || name == "begin_ns" || name == "end_ns" || name.ends_with("_begin_ns") ||
         name.ends_with("_end_ns");
}

// Whether they are timestamps on any clock: those, `begin_unix_ns`, `base_ns`.
inline bool IsTimestamp(const Column& column) {
  const std::string_view name = column.name;
  return IsOnClock(column) || name.ends_with("unix_ns") || name.ends_with("base_ns");
}

}  // namespace borescope::internal
