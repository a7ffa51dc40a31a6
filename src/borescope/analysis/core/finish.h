// Small steps that end an analysis: derived columns are filled in and rows put in order, once,
// after the last reduce.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/base/saturating.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// The sum of an integer column. REQUIRES: the column exists.
int64_t SumOf(const Table& table, std::string_view column);

// The cells of a float column, none of them missing any more. REQUIRES: the column exists.
FloatValues& FillFloats(Table& table, std::string_view column);

// Sets `share` to part / sum of all parts; to 0 where that is 0, as Row::Share does.
void FillShare(Table& table, std::string_view part, std::string_view share);

// Sets the float column `mean` to total / count; missing where the count is 0 or the total missing.
void FillMean(Table& table, std::string_view total, std::string_view count, std::string_view mean);

// Rows by `column`, largest first; ties by the other columns. REQUIRES: the column exists.
Table Sorted(const Table& table, std::string_view column);

}  // namespace borescope::internal
