#include "borescope/analysis/core/finish.h"

#include <numeric>

#include "borescope/analysis/core/row.h"
#include "borescope/base/check.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

int64_t SumOf(const Table& table, std::string_view column) {
  const IntValues& values = Ints(table, column);
  return std::accumulate(values.begin(), values.end(), int64_t{0}, AddSaturating);
}

FloatValues& FillFloats(Table& table, std::string_view column) {
  Column* found = table.Find(column);
  BS_CHECK(found != nullptr);
  found->missing.clear();
  return std::get<FloatValues>(found->values);
}

void FillShare(Table& table, std::string_view part, std::string_view share) {
  const IntValues& parts = Ints(table, part);
  const int64_t whole = SumOf(table, part);
  FloatValues& shares = FillFloats(table, share);
  for (size_t row = 0; row < parts.size(); ++row) {
    shares[row] = ShareOf(parts[row], whole);
  }
}

void FillMean(Table& table, std::string_view total, std::string_view count, std::string_view mean) {
  const IntValues& totals = Ints(table, total);
  const IntValues& counts = Ints(table, count);
  Column* column = table.Find(mean);
  BS_CHECK(column != nullptr);
  FloatValues& means = std::get<FloatValues>(column->values);
  column->missing.assign(counts.size(), 0);
  for (size_t row = 0; row < counts.size(); ++row) {
    means[row] = ShareOf(totals[row], counts[row]);
    column->missing[row] = counts[row] == 0 || table.Find(total)->IsMissing(row) ? 1 : 0;
  }
}

Table Sorted(const Table& table, std::string_view column) {
  Result<Table> sorted = SortBy(table, column);
  BS_CHECK(sorted.ok());
  return std::move(sorted).value();
}

}  // namespace borescope::internal
