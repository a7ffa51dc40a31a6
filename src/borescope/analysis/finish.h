// Small steps that end an analysis: derived columns are filled in and rows put in order, once,
// after the last reduce.
#pragma once

#include <string_view>

#include "borescope/table/table.h"

namespace borescope {

// The cells of a float column, none of them missing any more. REQUIRES: the column exists.
FloatValues& FillFloats(Table& table, std::string_view column);

// Sets `share` to part / sum of all parts.
void FillShare(Table& table, std::string_view part, std::string_view share);

// Rows by `column`, largest first; ties by the other columns. REQUIRES: the column exists.
Table Sorted(const Table& table, std::string_view column);

}  // namespace borescope
