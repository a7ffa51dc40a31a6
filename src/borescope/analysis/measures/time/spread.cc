#include "borescope/analysis/measures/time/spread.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
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
  Table table{"breakdown_spread", "How far the ranks lie apart", {}};
  AddString(table, "metric", Role::kKey, "Part of the breakdown.");
  AddFloat(table, "mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean over all ranks and GPUs.");
  AddInt(table, "min_ns", Unit::kNanoseconds, Role::kMin, "The smallest.");
  AddInt(table, "min_rank", Unit::kNone, Role::kDerived, "Its rank, of several the first.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "The largest.");
  AddInt(table, "max_rank", Unit::kNone, Role::kDerived, "Its rank, of several the first.");
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

// A rank that recorded no device work was not idle: nothing is known of it.
Table WithDevice(const Table& breakdown) {
  const Column& gpu = *breakdown.Find("gpu");
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < breakdown.rows(); ++row) {
    if (!gpu.IsMissing(row)) {
      rows.push_back(row);
    }
  }
  return TakeRows(breakdown, rows);
}

}  // namespace

Table BreakdownSpread(const Table& breakdown) {
  Table table = NewSpread();
  const Table measured = WithDevice(breakdown);
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
