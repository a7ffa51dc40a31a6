// DurationStats: count, sum, extremes and sum of squares of integer durations. Everything is exact,
// so that ranks and threads may be joined in any order; the standard deviation is computed once, at
// the very end. Between map and finish the sum of squares travels in two integer columns.
#pragma once

#include <cstdint>
#include <span>
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

// Quantiles: how the values of a sample are distributed: mean, standard deviation, quartiles. For
// tables of one rank; quantiles of several ranks cannot be merged, so they are never reduced.
//
// A quantile q of n values lies at position q (n - 1) of the sorted values, with linear
// interpolation between neighbours: type 7 of Hyndman and Fan (1996), the default of numpy and
// pandas. Pure functions, safe from any thread.

struct SampleStats {
  int64_t count = 0;
  int64_t total = 0;  // stops at the end of the range
  double mean = 0;    // all of these are 0 of nothing
  double stddev = 0;  // of a sample (n - 1); 0 for a single value
  int64_t min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  int64_t max = 0;
};

// The quantile `q`, O(n). Reorders `values`. REQUIRES: values is not empty, 0 <= q <= 1.
double Quantile(std::span<int64_t> values, double q);
double Quantile(std::span<double> values, double q);

// A value that is there: of an even number the lower middle one. Reorders `values`. REQUIRES:
// values is not empty.
int64_t LowerMedian(std::span<int64_t> values);

// O(n). Reorders `values`, so that no copy is needed. REQUIRES: no value is negative.
SampleStats StatsOfSamples(std::span<int64_t> values);

// The columns mean, stddev, min, p25, p50, p75 and max, each followed by `suffix` ("_ns"). `what`
// names a value, in the singular: "gap". Count and total are the caller's, by names of its own.
void AddSampleColumns(Table& table, Unit unit, std::string_view suffix, std::string_view what);
// The cells of those columns; all missing of nothing.
void PushSamples(Row& row, const SampleStats& stats);

// How far the ranks of a run lie apart.

// Table breakdown_spread: a row for each part of the breakdown, over its rows of all ranks and
// GPUs that did device work. No rows when fewer than two ranks did. REQUIRES: a breakdown without
// further keys.
Table BreakdownSpread(const Table& breakdown);

}  // namespace borescope::internal
