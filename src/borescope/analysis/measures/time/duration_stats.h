// DurationStats: count, sum, extremes and sum of squares of integer durations. Everything is exact,
// so that ranks and threads may be joined in any order; the standard deviation is computed once, at
// the very end. Between map and finish the sum of squares travels in two integer columns.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Not in the C++ standard, but in both compilers: exact sums of squared nanoseconds need it.
__extension__ typedef unsigned __int128 Uint128;

struct DurationStats {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  Uint128 square_sum = 0;

  // REQUIRES: dur_ns >= 0.
  void Add(int64_t dur_ns) {
    min_ns = count == 0 || dur_ns < min_ns ? dur_ns : min_ns;
    max_ns = dur_ns > max_ns ? dur_ns : max_ns;
    ++count;
    total_ns = AddSaturating(total_ns, dur_ns);
    square_sum += static_cast<Uint128>(dur_ns) * static_cast<Uint128>(dur_ns);
  }
};

// Sample standard deviation; 0 for fewer than two values.
double StandardDeviation(int64_t count, int64_t total, Uint128 square_sum);

// Whether `dur_ns`, one of the durations of `stats`, is `limit` or more of their (population)
// standard deviations away from their mean; never where all are equal. REQUIRES: 0 < limit < 2^31.
bool IsOutlier(const DurationStats& stats, int64_t dur_ns, int64_t limit);

// The columns count, total_ns, mean_ns, min_ns, max_ns, stddev_ns, complete: for tables that are
// not merged. `what` names the things counted, in the plural: "kernels".
void AddDurationColumns(Table& table, std::string_view what);
void PushDurations(Row& row, const DurationStats& stats);

// The same columns, share, and two that FinishStatsTable removes again: for tables whose rows are
// merged before it fills in what is derived.
void AddStatsColumns(Table& table, std::string_view what);
void PushStats(Row& row, const DurationStats& stats);

// Fills in mean, standard deviation and share of the table's total, sorts the rows by total time,
// largest first, and drops the columns of the squares.
Table FinishStatsTable(Table table);

}  // namespace borescope::internal
