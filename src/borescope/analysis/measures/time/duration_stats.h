// Statistics of durations. DurationStats has count, sum, extremes and sum of squares of integer
// durations. All are exact, so ranks and threads may be merged in any order; the standard deviation
// is computed once, at the end. Between map and finish the sum of squares is in two integer
// columns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// An extension of both compilers, needed for exact sums of squared nanoseconds.
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

// A sum of squares as two integers, which may be added each by itself, as columns of tables are
// that are merged: those of up to 2^23 sums. The high one saturates.
struct SquareParts {
  int64_t low = 0;
  int64_t high = 0;
};
SquareParts PartsOfSquares(Uint128 square_sum);
// REQUIRES: neither part is negative.
Uint128 SquaresOf(const SquareParts& parts);

// Sample standard deviation; 0 for fewer than two values.
double StandardDeviation(int64_t count, int64_t total, Uint128 square_sum);

// Whether `dur_ns`, one of the durations of `stats`, is `limit` or more (population) standard
// deviations away from their mean; false if all are equal. REQUIRES: 0 < limit < 2^31.
bool IsOutlier(const DurationStats& stats, int64_t dur_ns, int64_t limit);

// Adds the columns count, total_ns, mean_ns, min_ns, max_ns and stddev_ns, filled in at once, for
// tables that are not merged. `what`: what is counted, in the plural: "kernels".
void AddDurationColumns(Table& table, std::string_view what);
void PushDurations(Row& row, const DurationStats& stats);

// The same columns, share, and two that FinishStatsTable removes again, for tables whose rows are
// merged before FinishStatsTable fills in derived columns.
void AddStatsColumns(Table& table, std::string_view what);
void PushStats(Row& row, const DurationStats& stats);

// Fills in mean, standard deviation and share of the table's total, sorts the rows by total time,
// largest first, and removes the columns of the squares.
Table FinishStatsTable(Table table);

// Distribution of a sample: mean, standard deviation and quartiles. Only for tables of one rank, as
// quantiles of several ranks cannot be merged.
//
// The quantile q of n values is at position q (n - 1) of the sorted values, with linear
// interpolation between neighbours: type 7 of Hyndman and Fan (1996), the default of numpy and
// pandas. Pure functions, safe from any thread.
struct SampleStats {
  int64_t count = 0;
  int64_t total = 0;  // saturates at the end of the range
  double mean = 0;    // this and all below are 0 if there are no values
  double stddev = 0;  // sample standard deviation (n - 1); 0 for a single value
  int64_t min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  int64_t max = 0;
};

// The quantile `q`, O(n). Reorders `values`. REQUIRES: values is not empty, 0 <= q <= 1.
double Quantile(std::span<int64_t> values, double q);
double Quantile(std::span<double> values, double q);

// The median as one of the values: of an even number the lower middle one. Reorders `values`.
// REQUIRES: values is not empty.
int64_t LowerMedian(std::span<int64_t> values);

// O(n). Reorders `values`, so that no copy is needed. REQUIRES: no value is negative.
SampleStats StatsOfSamples(std::span<int64_t> values);

// The columns mean, stddev, min, p25, p50, p75 and max, each followed by `suffix` ("_ns"). `what`:
// what a value is, in the singular: "gap". The caller adds count and total with names of its own.
void AddSampleColumns(Table& table, Unit unit, std::string_view suffix, std::string_view what);
// Appends the cells of those columns; all are missing if there are no values.
void PushSamples(Row& row, const SampleStats& stats);

// Whether a device is hardly used beside others of its rank: it works for less than a hundredth of
// the time that the busiest works. A stray kernel or copy says nothing about how devices are used.
constexpr bool IsHardlyUsed(int64_t busy_ns, int64_t busiest_ns) {
  constexpr int64_t kHardlyUsed = 100;
  return busy_ns < busiest_ns / kHardlyUsed;
}

// The rows of devices with work that are not hardly used. REQUIRES: a breakdown without further
// keys.
Table OfUsedDevices(const Table& breakdown);

// Table breakdown_spread, how far the ranks of a run differ: a row for each part of the breakdown,
// over the rows of all ranks and their GPUs, as OfUsedDevices has them. No rows if fewer than two
// ranks have any. REQUIRES: a breakdown without further keys.
Table BreakdownSpread(const Table& breakdown);

}  // namespace borescope::internal
