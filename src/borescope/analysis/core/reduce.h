// The reduces that analyses share: concatenation, and merging by key columns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/result.h"
#include "borescope/base/saturating.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// How many modules of a class are in each group of rows: the column `instances` of --by module.

// Counts nothing, and makes no column, unless the class of the module is among the keys.
class InstanceCounts {
 public:
  explicit InstanceCounts(const GroupKeys& keys) : is_used_(keys.HasModuleClasses()) {}

  bool is_used() const { return is_used_; }
  // `instance` is that of a row of the group: GroupKeys::ModuleInstance. Nothing for kMissing.
  void Add(uint32_t group, int64_t instance);

  void AddColumn(Table& table) const;
  void Push(Row& row, uint32_t group) const;

  // Every distinct pair of group and instance.
  size_t pairs() const { return pairs_.size(); }
  std::span<const int64_t> pair(size_t i) const { return pairs_.key(i); }

 private:
  bool is_used_;
  Grouper pairs_{2};
  std::vector<int64_t> counts_;  // per group
};

// MapOnce: the map of a verb that other verbs of the same question ask, too.

// As `kMap`, which is called once in a question about a rank: `summary` shows the heads of tables
// that a report has whole. For Pipeline::map of verbs whose tables are small, as they are copied.
// REQUIRES: whoever asks within one question asks with the same parameters.
template <auto kMap>
Result<Tables> MapOnce(const RankView& view, const Params& params) {
  struct Once {};
  return *view.Shared<Once>([&] { return kMap(view, params); });
}

// Small steps that end an analysis: derived columns are filled in and rows put in order, once,
// after the last reduce.

// The sum of an integer column. REQUIRES: the column exists.
int64_t SumOf(const Table& table, std::string_view column);

// The cells of a float column, none of them missing any more. REQUIRES: the column exists.
FloatValues& FillFloats(Table& table, std::string_view column);

// Sets `share` to part / sum of all parts; to 0 where that is 0, as Row::Share does.
void FillShare(Table& table, std::string_view part, std::string_view share);

// Sets the float column `mean` to total / count; missing where the count is 0 or the total missing.
void FillMean(Table& table, std::string_view total, std::string_view count, std::string_view mean);

// Rows by `column`, largest first; ties by the other columns. REQUIRES: the column exists.
Table Sorted(const Table& table, std::string_view column);

// Rows of all ranks table by table, ordered by the key column `rank` where there is one; the rows
// of one rank stay in their order. Each rank comes in one piece.
Result<Tables> ConcatTables(std::span<const Tables> tables, const Params& params);
// The same of one rank, or of several that were reduced already, without a copy.
Tables ConcatOne(Tables tables);
// As ConcatTables, then rows with equal keys become one.
Result<Tables> MergeTables(std::span<const Tables> tables, const Params& params);
// Tables whose first column is `rank` as by ConcatTables, all others as by MergeTables.
Result<Tables> ReduceByRank(std::span<const Tables> tables, const Params& params);

}  // namespace borescope::internal
