// Profiles that are SQLite databases. The profiler that wrote one is recognised by its tables and
// columns, never by a version number alone: each format is a row in database.cc.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/sqlite/sqlite.h"
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

}  // namespace borescope::internal
