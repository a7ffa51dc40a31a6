// Small steps that end an analysis: derived columns are filled in and rows put in order, once,
// after the last reduce.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope {

// a + b, stopping at the ends of the range: a corrupt file may hold thousands of week-long events.
inline int64_t AddSaturating(int64_t a, int64_t b) {
  using Limits = std::numeric_limits<int64_t>;
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b > 0 ? Limits::max() : Limits::min()) : sum;
}

inline void AddSaturatingTo(int64_t& sum, int64_t value) { sum = AddSaturating(sum, value); }

// The sum of an integer column. REQUIRES: the column exists.
int64_t SumOf(const Table& table, std::string_view column);

// The cells of a float column, none of them missing any more. REQUIRES: the column exists.
FloatValues& FillFloats(Table& table, std::string_view column);

// Sets `share` to part / sum of all parts.
void FillShare(Table& table, std::string_view part, std::string_view share);

// Sets the float column `mean` to total / count; missing where the count is 0 or the total missing.
void FillMean(Table& table, std::string_view total, std::string_view count, std::string_view mean);

// Rows by `column`, largest first; ties by the other columns. REQUIRES: the column exists.
Table Sorted(const Table& table, std::string_view column);

}  // namespace borescope
