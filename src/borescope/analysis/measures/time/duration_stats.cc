#include "borescope/analysis/measures/time/duration_stats.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/saturating.h"
#include "borescope/base/statistics/statistics.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

// Bits of the low part of the square sum: few enough that 2^23 ranks can be added before it
// overflows.
constexpr int kLowBits = 40;
constexpr std::string_view kLow = "square_sum_low";
constexpr std::string_view kHigh = "square_sum_high";

}  // namespace

SquareParts PartsOfSquares(Uint128 square_sum) {
  constexpr Uint128 kMost = std::numeric_limits<int64_t>::max();
  return {static_cast<int64_t>(square_sum & ((Uint128{1} << kLowBits) - 1)),
          static_cast<int64_t>(std::min(square_sum >> kLowBits, kMost))};
}

Uint128 SquaresOf(const SquareParts& parts) {
  return (static_cast<Uint128>(parts.high) << kLowBits) + static_cast<Uint128>(parts.low);
}

double StandardDeviation(int64_t count, int64_t total, Uint128 square_sum) {
  if (count < 2) {
    return 0.0;
  }
  // count * sum of squares - total^2: the textbook formula is exact in integers.
  const auto n = static_cast<Uint128>(count);
  const auto sum = static_cast<Uint128>(total);
  Uint128 scaled = 0;
  long double numerator = 0;
  if (__builtin_mul_overflow(n, square_sum, &scaled)) {
    numerator = static_cast<long double>(n) * static_cast<long double>(square_sum) -
                static_cast<long double>(sum) * static_cast<long double>(sum);
  } else {
    numerator = static_cast<long double>(scaled - std::min(scaled, sum * sum));
  }
  const auto divisor = static_cast<long double>(n * (n - 1));
  return static_cast<double>(std::sqrt(std::max(numerator, 0.0L) / divisor));
}

bool IsOutlier(const DurationStats& stats, int64_t dur_ns, int64_t limit) {
  // |d - mean| >= limit x deviation, squared and times count^2:
  // (count x d - total)^2 >= limit^2 x (count x sum of squares - total^2).
  const auto n = static_cast<Uint128>(stats.count);
  const auto sum = static_cast<Uint128>(stats.total_ns);
  const Uint128 own = n * static_cast<Uint128>(dur_ns);
  const Uint128 distance = own > sum ? own - sum : sum - own;
  const Uint128 factor = static_cast<Uint128>(limit) * static_cast<Uint128>(limit);
  Uint128 squares = 0;
  Uint128 far = 0;
  Uint128 bound = 0;
  if (__builtin_mul_overflow(n, stats.square_sum, &squares)) {
    return false;  // no clock produces such durations: the file is damaged
  }
  const Uint128 spread = squares - std::min(squares, sum * sum);
  if (__builtin_mul_overflow(distance, distance, &far) ||
      __builtin_mul_overflow(factor, spread, &bound)) {
    const auto root = static_cast<long double>(distance);
    return root * root >= static_cast<long double>(factor) * static_cast<long double>(spread);
  }
  return spread != 0 && far >= bound;
}

void AddDurationColumns(Table& table, std::string_view what) {
  const std::string things(what);
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of " + things + ".");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean duration.");
  AddInt(table, "min_ns", Unit::kNanoseconds, Role::kMin, "Shortest duration.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "Longest duration.");
  AddFloat(table, "stddev_ns", Unit::kNanoseconds, Role::kDerived,
           "Sample standard deviation of the durations; 0 for a single one.");
}

void PushDurations(Row& row, const DurationStats& stats) {
  row.Int(stats.count).Int(stats.total_ns).Share(stats.total_ns, stats.count);
  row.Int(stats.min_ns).Int(stats.max_ns);
  row.Float(StandardDeviation(stats.count, stats.total_ns, stats.square_sum));
}

void AddStatsColumns(Table& table, std::string_view what) {
  AddDurationColumns(table, what);
  AddFloat(table, "share", Unit::kShare, Role::kDerived,
           "Total / total of all rows of this table.");
  AddInt(table, kLow, Unit::kNone, Role::kSum, "Sum of squares, low bits; dropped at the end.");
  AddInt(table, kHigh, Unit::kNone, Role::kSum, "Sum of squares, high bits; dropped at the end.");
}

void PushStats(Row& row, const DurationStats& stats) {
  row.Int(stats.count).Int(stats.total_ns).Missing();
  // Without values there is no minimum; other ranks may have one.
  row.MaybeInt(stats.count == 0 ? kMissing : stats.min_ns);
  row.MaybeInt(stats.count == 0 ? kMissing : stats.max_ns);
  row.Missing().Missing();
  const SquareParts squares = PartsOfSquares(stats.square_sum);
  row.Int(squares.low).Int(squares.high);
}

Table FinishStatsTable(Table table) {
  const IntValues& count = Ints(table, "count");
  const IntValues& total = Ints(table, "total_ns");
  FloatValues& mean = FillFloats(table, "mean_ns");
  FloatValues& deviation = FillFloats(table, "stddev_ns");
  for (size_t row = 0; row < table.rows(); ++row) {
    const Uint128 squares = SquaresOf({Ints(table, kLow)[row], Ints(table, kHigh)[row]});
    mean[row] = ShareOf(total[row], count[row]);
    deviation[row] = StandardDeviation(count[row], total[row], squares);
  }
  FillShare(table, "total_ns", "share");
  std::erase_if(table.columns, [](const Column& c) { return c.name == kLow || c.name == kHigh; });
  return Sorted(table, "total_ns");
}

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

namespace {

struct PartRow {
  std::string_view column;
  std::string_view metric;
};

constexpr PartRow kParts[] = {
    {"span_ns", "span"},
    {"busy_ns", "busy"},
    {"compute_ns", "compute"},
    {"exposed_comm_ns", "exposed_comm"},
    {"exposed_copy_ns", "exposed_copy"},
    {"idle_ns", "idle"},
    {"comm_ns", "comm"},
    {"copy_ns", "copy"},
};

Table NewSpread() {
  Table table{"breakdown_spread", "How much the ranks differ", {}};
  AddString(table, "metric", Role::kKey, "Part of the breakdown.");
  AddFloat(table, "mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean over all ranks and GPUs.");
  AddInt(table, "min_ns", Unit::kNanoseconds, Role::kMin, "The smallest.");
  AddInt(table, "min_rank", Unit::kNone, Role::kDerived,
         "Its rank; the first if there are several.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "The largest.");
  AddInt(table, "max_rank", Unit::kNone, Role::kDerived,
         "Its rank; the first if there are several.");
  AddFloat(table, "stddev_ns", Unit::kNanoseconds, Role::kDerived, "Sample standard deviation.");
  AddFloat(table, "imbalance", Unit::kNone, Role::kDerived,
           "Largest / mean: 1 when all are equal; missing when all are 0.");
  return table;
}

void PushSpread(Table& table, const PartRow& part, const IntValues& values,
                const IntValues& ranks) {
  DurationStats stats;
  for (const int64_t value : values) {
    stats.Add(value);
  }
  const auto rank_of = [&](int64_t value) {
    return ranks[static_cast<size_t>(std::find(values.begin(), values.end(), value) -
                                     values.begin())];
  };
  const double mean = ShareOf(stats.total_ns, stats.count);
  Row row(table);
  row.Text(part.metric).Float(mean);
  row.Int(stats.min_ns).Int(rank_of(stats.min_ns)).Int(stats.max_ns).Int(rank_of(stats.max_ns));
  row.Float(StandardDeviation(stats.count, stats.total_ns, stats.square_sum));
  if (stats.total_ns == 0) {
    row.Missing();
  } else {
    row.Float(static_cast<double>(stats.max_ns) / mean);
  }
}

}  // namespace

// Ranks without recorded device work were not idle: nothing is known about them.
Table OfUsedDevices(const Table& breakdown) {
  const Column& gpu = *breakdown.Find("gpu");
  const IntValues& ranks = Ints(breakdown, "rank");
  const IntValues& span_ns = Ints(breakdown, "span_ns");
  const IntValues& idle_ns = Ints(breakdown, "idle_ns");
  std::vector<int64_t> busy_ns(breakdown.rows());
  std::map<int64_t, int64_t> busiest_ns;
  for (uint32_t row = 0; row < breakdown.rows(); ++row) {
    busy_ns[row] = SubtractSaturating(span_ns[row], idle_ns[row]);
    int64_t& most_ns = busiest_ns[ranks[row]];
    most_ns = std::max(most_ns, busy_ns[row]);
  }
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < breakdown.rows(); ++row) {
    if (!gpu.IsMissing(row) && !IsHardlyUsed(busy_ns[row], busiest_ns[ranks[row]])) {
      rows.push_back(row);
    }
  }
  return TakeRows(breakdown, rows);
}

Table BreakdownSpread(const Table& breakdown) {
  Table table = NewSpread();
  const Table measured = OfUsedDevices(breakdown);
  const IntValues& ranks = Ints(measured, "rank");
  if (std::adjacent_find(ranks.begin(), ranks.end(), std::not_equal_to<>()) == ranks.end()) {
    return table;
  }
  for (const PartRow& part : kParts) {
    PushSpread(table, part, Ints(measured, part.column), ranks);
  }
  return table;
}

}  // namespace borescope::internal
