// The relations as virtual tables of SQLite: read-only, nothing is copied.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/query/row_cursor.h"

namespace borescope::internal::query {

// What the virtual tables of one database read from. Has to outlive the database, without moving.
class TableData {
 public:
  explicit TableData(std::span<const RankData> ranks);
  TableData(const TableData&) = delete;
  TableData& operator=(const TableData&) = delete;

  // One relation with its orders; what a virtual table is made of.
  struct Source {
    const Relation& relation;
    const TableData& data;
    RowOrders orders;
  };

  Ranks ranks() const { return ranks_; }
  std::deque<Source>& sources() { return sources_; }
  Deadline& deadline() { return deadline_; }
  const Deadline& deadline() const { return deadline_; }

 private:
  std::vector<RankRows> ranks_;
  std::deque<Source> sources_;
  Deadline deadline_;
};

// Makes every relation a table of `database`.
Result<void> RegisterTables(SqlDatabase& database, TableData& data);

}  // namespace borescope::internal::query
