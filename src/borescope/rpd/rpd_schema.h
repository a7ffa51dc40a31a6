// The tables, views and indexes of a rocmProfileData database, schema 3, as its tracer makes them:
// the order of columns counts, and every column is NOT NULL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/trace/string_pool.h"

namespace borescope::internal {

// Rows into a table of a database that is being written.

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

// Texts of a rocmProfileData database: numbered and written when first used.

// One of its two string tables, which the traces of a file share. Id 1 is the empty text, as its
// tracer has it. Errors of writing are kept and given by Flush.
class RpdStrings {
 public:
  RpdStrings() = default;  // for assignment only

  // Writes to the table of that name. `database` must outlive it and not move.
  static Result<RpdStrings> Into(const SqlDatabase& database, std::string_view table);

  // Texts by their ids belong to this pool from now on; it outlives their use.
  void Use(const StringPool& pool);

  // The id of a text; the same for equal texts, which are remembered.
  int64_t Id(StringId text);
  int64_t Id(std::string_view text);

  // A new id for a text that hardly comes again: it is not remembered, so that memory does not grow
  // with the calls of a trace. The table then holds it as often as it is added.
  int64_t Add(std::string_view text);

  // Writes the rows that wait; call it after the last text.
  Result<void> Flush();

 private:
  const StringPool* pool_ = nullptr;  // of the current trace
  std::vector<int64_t> id_of_;        // by its StringId; 0: none yet
  StringPool texts_;                  // those remembered
  std::vector<int64_t> id_of_text_;   // by their number there; 0: none yet
  int64_t last_id_ = 0;
  RowInserter rows_;
  Result<void> written_;  // the first error
};

// To be run on an empty database.
extern const std::string_view kRpdTables;
extern const std::string_view kRpdViews;
// To be run last: rows are written faster without them.
extern const std::string_view kRpdIndexes;

}  // namespace borescope::internal
