// The reduces shared by several analyses: concatenation, and merging by key columns.
#include "borescope/analysis/core/reduce.h"

#include <algorithm>
#include <numeric>

#include "borescope/analysis/core/row.h"
#include "borescope/base/check.h"
#include "borescope/base/row_limit.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

void InstanceCounts::Add(uint32_t group, int64_t instance) {
  if (instance == kMissing) {
    return;
  }
  const int64_t pair[] = {group, instance};
  const size_t known = pairs_.size();
  if (pairs_.Find(pair) == known) {
    counts_.resize(std::max<size_t>(counts_.size(), group + size_t{1}), 0);
    ++counts_[group];
  }
}

void InstanceCounts::AddColumn(Table& table) const {
  if (is_used_) {
    AddInt(table, "instances", Unit::kCount, Role::kSum,
           "Distinct modules of the class in this row, those of each rank by themselves.");
  }
}

void InstanceCounts::Push(Row& row, uint32_t group) const {
  if (is_used_) {
    row.MaybeInt(group < counts_.size() && counts_[group] > 0 ? counts_[group] : kMissing);
  }
}

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

namespace {

// The i-th table of every rank. All maps of one analysis give the same tables in the same order.
std::vector<Table> TablesAt(std::span<const Tables> findings, size_t i) {
  std::vector<Table> tables;
  size_t rows = 0;
  for (const Tables& one : findings) {
    BS_CHECK(i < one.size() && one[i].name == findings.front()[i].name);
    tables.push_back(one[i]);
    rows += one[i].rows();
  }
  CheckedRows(rows, "rows of all ranks");
  return tables;
}

// Ranks ascending, whatever order their findings came in.
Table InRankOrder(Table table) {
  const Column* rank = table.Find("rank");
  const auto* ranks = rank == nullptr ? nullptr : std::get_if<IntValues>(&rank->values);
  if (ranks == nullptr || rank->role != Role::kKey ||
      std::is_sorted(ranks->begin(), ranks->end())) {
    return table;
  }
  std::vector<uint32_t> rows(ranks->size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](uint32_t a, uint32_t b) { return (*ranks)[a] < (*ranks)[b]; });
  return TakeRows(table, rows);
}

// The table of a single rank is not copied once more: it may be the largest thing in memory.
Table ConcatByRank(std::vector<Table> tables) {
  return InRankOrder(tables.size() == 1 ? std::move(tables.front()) : Concat(tables));
}

template <class Join>
Tables JoinTables(std::span<const Tables> findings, const Join& join) {
  Tables result;
  for (size_t i = 0; !findings.empty() && i < findings.front().size(); ++i) {
    result.push_back(join(TablesAt(findings, i)));
  }
  return result;
}

}  // namespace

Result<Tables> ConcatTables(std::span<const Tables> findings, const Params&) {
  return JoinTables(findings, ConcatByRank);
}

Tables ConcatOne(Tables tables) {
  for (Table& table : tables) {
    CheckedRows(table.rows(), "rows of all ranks");
    table = InRankOrder(std::move(table));
  }
  return tables;
}

Result<Tables> MergeTables(std::span<const Tables> findings, const Params&) {
  return JoinTables(findings, [](const std::vector<Table>& tables) { return MergeByKey(tables); });
}

Result<Tables> ReduceByRank(std::span<const Tables> findings, const Params&) {
  return JoinTables(findings, [](std::vector<Table> tables) {
    const std::vector<Column>& columns = tables.front().columns;
    const bool by_rank = !columns.empty() && columns.front().name == "rank";
    return by_rank ? ConcatByRank(std::move(tables)) : MergeByKey(tables);
  });
}

}  // namespace borescope::internal
