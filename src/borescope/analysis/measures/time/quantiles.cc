#include "borescope/analysis/measures/time/quantiles.h"

#include <algorithm>
#include <string>

#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/base/check.h"
#include "borescope/base/statistics/quantile.h"

namespace borescope::internal {
double Quantile(std::span<int64_t> values, double q) {
  BS_CHECK(!values.empty() && q >= 0.0 && q <= 1.0);
  return QuantileOf(values, q);
}
double Quantile(std::span<double> values, double q) {
  BS_CHECK(!values.empty() && q >= 0.0 && q <= 1.0);
  return QuantileOf(values, q);
}

int64_t LowerMedian(std::span<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

SampleStats StatsOfSamples(std::span<int64_t> values) {
  if (values.empty()) {
    return {};
  }
  DurationStats sums;
  for (const int64_t value : values) {
    sums.Add(value);
  }
  SampleStats stats;
  stats.count = sums.count;
  stats.total = sums.total_ns;
  stats.mean = ShareOf(sums.total_ns, sums.count);
  stats.stddev = StandardDeviation(sums.count, sums.total_ns, sums.square_sum);
  stats.min = sums.min_ns;
  stats.p25 = Quantile(values, 0.25);
  stats.p50 = Quantile(values, 0.5);
  stats.p75 = Quantile(values, 0.75);
  stats.max = sums.max_ns;
  return stats;
}

void AddSampleColumns(Table& table, Unit unit, std::string_view suffix, std::string_view what) {
  const std::string thing(what);
  const auto name = [&](std::string_view stem) { return std::string(stem).append(suffix); };
  const auto quartile = [&](std::string_view stem, std::string_view doc) {
    AddFloat(table, name(stem), unit, Role::kDerived,
             std::string(doc) + " (linear interpolation).");
  };
  AddFloat(table, name("mean"), unit, Role::kDerived, "Mean " + thing + ".");
  AddFloat(table, name("stddev"), unit, Role::kDerived,
           "Sample standard deviation; 0 for a single value.");
  AddInt(table, name("min"), unit, Role::kMin, "Smallest " + thing + ".");
  quartile("p25", "A quarter of the values is not above this");
  quartile("p50", "Median");
  quartile("p75", "Three quarters of the values are not above this");
  AddInt(table, name("max"), unit, Role::kMax, "Largest " + thing + ".");
}

void PushSamples(Row& row, const SampleStats& stats) {
  if (stats.count == 0) {
    row.Missing().Missing().Missing().Missing().Missing().Missing().Missing();
    return;
  }
  row.Float(stats.mean).Float(stats.stddev).Int(stats.min);
  row.Float(stats.p25).Float(stats.p50).Float(stats.p75).Int(stats.max);
}

}  // namespace borescope::internal
