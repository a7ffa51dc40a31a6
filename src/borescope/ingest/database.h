// Profiles that are SQLite databases. The profiler that wrote one is recognised by its tables and
// columns, never by a version number alone: each format is a row in database.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/base/sqlite/sqlite_table.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/load.h"

namespace borescope::internal {

// The ordinary tables of a database and their columns. Views are ignored: their results are
// computed from the tables instead.
class DatabaseSchema {
 public:
  static Result<DatabaseSchema> Read(SqlDatabase& database);

  bool Has(std::string_view table) const { return tables_.find(table) != tables_.end(); }
  bool Has(std::string_view table, std::string_view column) const;
  // In alphabetical order.
  const std::map<std::string, std::vector<std::string>, std::less<>>& tables() const {
    return tables_;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> tables_;
};

// The input of a reader of one format. Meta has file, file_bytes and text_bytes.
struct DatabaseInput {
  SqlDatabase& database;
  const DatabaseSchema& schema;
  Meta meta;
  const LoadOptions& options;
};

// Reports the progress of a reader that reads its tables one after the other, as if each were an
// equal part of the file.
class TableProgress {
 public:
  // The input must outlive it.
  TableProgress(const DatabaseInput& input, size_t tables) : input_(input), tables_(tables) {}

  // One more table is read.
  void Done() {
    if (input_.options.progress && done_ < tables_) {
      ++done_;
      input_.options.progress(input_.meta.file_bytes / tables_ * done_, input_.meta.file_bytes);
    }
  }

 private:
  const DatabaseInput& input_;
  size_t tables_;
  size_t done_ = 0;
};

// Reads a finished trace from the database with the first format that knows its tables.
// kUnsupportedFormat if none does.
Result<Trace> LoadDatabase(SqlDatabase& database, uint64_t file_bytes, const LoadOptions& options);

std::span<const FormatRow> DatabaseFormats();

// As readers of databases set Meta::remedy; nullptr for a format that is no database.
Remedy RemedyOfDatabase(TraceFormat format);

// Rows of a table of a foreign database, by column name, for all versions: a column that does not
// exist reads as missing. Values of the wrong type are counted and read as missing.

// A start and an end of a row, made safe: no difference or sum of two times can overflow.
struct RowTime {
  bool has_start = false;  // false: the row has no place on the timeline; counted
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;  // >= 0
};

// Reads a table once, in the order of its rows (never that of an index). Not thread-safe; database
// and diagnostics must outlive it.
class TableRows {
 public:
  // Columns are numbered from 0 in the order of `columns`. No rows if there is no such table.
  static Result<TableRows> Open(const DatabaseInput& input, std::string_view table,
                                std::span<const std::string_view> columns,
                                Diagnostics& diagnostics) {
    return Open(input.database, input.schema, table, columns, diagnostics);
  }
  static Result<TableRows> Open(SqlDatabase& database, const DatabaseSchema& schema,
                                std::string_view table, std::span<const std::string_view> columns,
                                Diagnostics& diagnostics);

  // Moves to the next row; false after the last one. kCorrupt if the database is damaged.
  Result<bool> Next();
  // Goes through all rows that are left and calls `read` at each.
  template <class Read>
  Result<void> ForEach(const Read& read) {
    while (true) {
      BS_ASSIGN(const bool is_row, Next());
      if (!is_row) {
        return {};
      }
      read();
    }
  }

  // An integer, also written as text, or as a real, which is truncated. NULL and the empty text,
  // which tracers write into number columns, give `missing`, and so does anything else, which is
  // counted.
  int64_t Integer(int column, int64_t missing = kMissing) const {
    int64_t value = 0;
    return rows_.TryInteger(column, value) ? value : NoInteger(column, missing);
  }
  // Clamped to 0...2^31 - 1; -1 if missing.
  int32_t SmallInteger(int column) const;
  // A number, also written as text; nothing for other values, which are counted unless empty.
  std::optional<double> Number(int column) const;
  // Text, or the digits of a number; empty for NULL. Bytes that are not UTF-8 are replaced and
  // counted. Valid until Next.
  std::string_view Text(int column) const {
    const std::string_view text = rows_.Text(column);
    return IsValidUtf8(text) ? text : RepairedText(text);
  }
  // The bytes of a blob (or text). Valid until Next.
  std::string_view Blob(int column) const { return rows_.Blob(column); }

  std::string_view table() const { return table_; }

  // From two columns with times in nanoseconds; `what` names the row in diagnostics.
  RowTime Time(int start, int end, std::string_view what) const;

 private:
  int64_t NoInteger(int column, int64_t missing) const;
  std::string_view RepairedText(std::string_view text) const;
  void CountBadType(int column) const;

  SqlTable rows_;
  std::string file_;
  std::string table_;
  Diagnostics* diagnostics_ = nullptr;
  mutable std::deque<std::string> repaired_;  // texts of the current row
  bool has_rows_ = false;                     // the table exists
  uint64_t read_ = 0;
  uint64_t most_rows_ = 0;
};

// A start and an end, kMissing if not recorded; odd values are counted.
RowTime TimeOf(int64_t start_ns, int64_t end_ns, std::string_view what, Diagnostics& diagnostics);

// The number of rows of a table. REQUIRES: the table exists.
Result<uint64_t> CountRows(SqlDatabase& database, const DatabaseSchema& schema,
                           std::string_view table);

}  // namespace borescope::internal
