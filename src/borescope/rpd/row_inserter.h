// Rows into a table of a database that is being written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/base/sqlite/sqlite.h"

namespace borescope::internal {

// Inserts several rows with one statement. SQLite looks up and writes down the largest id of an
// AUTOINCREMENT table once per statement, which costs as much as a row itself. Rows get the ids
// they would get one by one, in the order of Add. Used by one thread at a time.
class RowInserter {
 public:
  RowInserter() = default;  // for assignment only

  // For a table that has this many columns, all of which are given. `database` must outlive it and
  // not move.
  static Result<RowInserter> Into(const SqlDatabase& database, std::string_view table, int columns);

  // Adds a row: integers, texts (copied), nullptr for NULL (an id that is NULL is the next one).
  // An error may be that of an earlier row.
  template <class... Values>
  Result<void> Add(const Values&... values) {
    (values_.push_back(ValueOf(values)), ...);
    return values_.size() < full_ ? Result<void>() : Flush();
  }

  // Writes the rows that wait; call it after the last one.
  Result<void> Flush();

 private:
  using Value = std::variant<std::nullptr_t, int64_t, std::string>;

  static Value ValueOf(int64_t value) { return value; }
  static Value ValueOf(std::string_view text) { return std::string(text); }
  static Value ValueOf(std::nullptr_t) { return nullptr; }

  Result<SqlStatement> PrepareFor(size_t rows) const;
  Result<void> Run(SqlStatement& statement);

  const SqlDatabase* database_ = nullptr;
  std::string table_;
  size_t columns_ = 0;
  size_t full_ = 0;            // the values of a full statement
  SqlStatement many_;          // inserts as many rows as `full_` holds
  std::vector<Value> values_;  // of rows that wait, row by row
};

}  // namespace borescope::internal
