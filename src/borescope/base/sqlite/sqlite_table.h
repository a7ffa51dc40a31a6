// The rows of a table of an SQLite database, in the order of their row ids: from the pages of the
// file if they are plain, otherwise through SQLite, which also takes over at damaged pages and
// reports the damage. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/base/sqlite/sqlite_pages.h"

namespace borescope::internal {

class SqlTable {
 public:
  SqlTable() = default;

  // Columns are numbered from 0 in the order of `columns`; one without a name is NULL.
  // REQUIRES: the table and the columns exist. The database must outlive the rows.
  static Result<SqlTable> Open(const SqlDatabase& database, std::string_view table,
                               std::span<const std::string_view> columns);

  // Moves to the next row; false after the last one.
  Result<bool> Step();

  // For the current row, as in SqlStatement. Text and blobs are valid until the next Step.
  SqlType type(int column) const {
    return pages_.has_value() ? pages_->type(column) : statement_.type(column);
  }
  bool TryInteger(int column, int64_t& value) const {
    return pages_.has_value() ? pages_->TryInteger(column, value)
                              : statement_.TryInteger(column, value);
  }
  // REQUIRES: a number
  double Real(int column) const {
    return pages_.has_value() ? pages_->Real(column) : statement_.Real(column);
  }
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;
  std::string_view ColumnName(int column) const { return columns_[static_cast<size_t>(column)]; }

  // False if SQLite reads the rows.
  bool reads_pages() const { return pages_.has_value(); }

 private:
  Result<void> FindPages();
  Result<void> GoOnWithSqlite();
  std::string_view NumberAsText(int column) const;

  const SqlDatabase* database_ = nullptr;
  std::string table_;
  std::vector<std::string> columns_;
  std::optional<PageRows> pages_;
  SqlStatement statement_;
  uint64_t rows_ = 0;                      // read from the pages
  mutable std::deque<std::string> texts_;  // of numbers in the current row
};

}  // namespace borescope::internal
