#include "borescope/analysis/measures/time/duration_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace borescope::internal {
namespace {

// Low part of the square sum: small enough that 2^23 ranks can be added before it overflows.
constexpr int kLowBits = 40;
constexpr std::string_view kLow = "square_sum_low";
constexpr std::string_view kHigh = "square_sum_high";

Uint128 SquareSum(int64_t low, int64_t high) {
  return (static_cast<Uint128>(high) << kLowBits) + static_cast<Uint128>(low);
}

}  // namespace

double StandardDeviation(int64_t count, int64_t total, Uint128 square_sum) {
  if (count < 2) {
    return 0.0;
  }
  // count * sum of squares - total^2, exactly: the textbook formula loses nothing in integers.
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
    return false;  // no clock gives such durations: a damaged file
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
  // Of nothing there is no shortest, which other ranks may have.
  row.MaybeInt(stats.count == 0 ? kMissing : stats.min_ns);
  row.MaybeInt(stats.count == 0 ? kMissing : stats.max_ns);
  row.Missing().Missing();
  row.Int(static_cast<int64_t>(stats.square_sum & ((Uint128{1} << kLowBits) - 1)));
  constexpr Uint128 kMost = std::numeric_limits<int64_t>::max();
  row.Int(static_cast<int64_t>(std::min(stats.square_sum >> kLowBits, kMost)));
}

Table FinishStatsTable(Table table) {
  const IntValues& count = Ints(table, "count");
  const IntValues& total = Ints(table, "total_ns");
  FloatValues& mean = FillFloats(table, "mean_ns");
  FloatValues& deviation = FillFloats(table, "stddev_ns");
  for (size_t row = 0; row < table.rows(); ++row) {
    const Uint128 squares = SquareSum(Ints(table, kLow)[row], Ints(table, kHigh)[row]);
    mean[row] = ShareOf(total[row], count[row]);
    deviation[row] = StandardDeviation(count[row], total[row], squares);
  }
  FillShare(table, "total_ns", "share");
  std::erase_if(table.columns, [](const Column& c) { return c.name == kLow || c.name == kHigh; });
  return Sorted(table, "total_ns");
}

}  // namespace borescope::internal
