// Quantiles: how the values of a sample are distributed: mean, standard deviation, quartiles. For
// tables of one rank; quantiles of several ranks cannot be merged, so they are never reduced.
//
// A quantile q of n values lies at position q (n - 1) of the sorted values, with linear
// interpolation between neighbours: type 7 of Hyndman and Fan (1996), the default of numpy and
// pandas. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "borescope/analysis/core/row.h"
#include "borescope/table/table.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
