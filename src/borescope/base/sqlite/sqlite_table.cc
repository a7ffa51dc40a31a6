#include "borescope/base/sqlite/sqlite_table.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// The affinity REAL of a declared type, by the rules of SQLite (datatype3.html).
bool IsRealType(std::string type) {
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  const auto has = [&](std::string_view part) { return type.find(part) != std::string::npos; };
  return (has("REAL") || has("FLOA") || has("DOUB")) && !has("INT") && !has("CHAR") &&
         !has("CLOB") && !has("TEXT") && !has("BLOB");
}

bool IsRowIdType(std::string_view type) {
  return sqlite3_stricmp(std::string(type).c_str(), "INTEGER") == 0;
}

Result<int64_t> Number(const SqlDatabase& database, std::string_view sql, std::string_view table) {
  BS_ASSIGN(SqlStatement rows, database.Prepare(sql));
  rows.Bind(1, table);
  BS_ASSIGN(const bool is_row, rows.Step());
  return is_row ? rows.Integer(0) : int64_t{0};
}

// How rows of the table are stored; nothing if the table is not plain.
Result<std::optional<StoredTable>> FindStored(const SqlDatabase& database, std::string_view table) {
  enum Column : uint8_t { kName, kType, kKey, kHasDefault, kHidden };
  BS_ASSIGN(SqlStatement rows, database.Prepare("SELECT name, type, pk, dflt_value IS NOT NULL, "
                                                "hidden FROM pragma_table_xinfo(?)"));
  rows.Bind(1, table);
  std::optional<StoredTable> stored(std::in_place);
  int64_t keys = 0;
  int row_id = PageRows::kNoColumn;
  while (true) {
    BS_ASSIGN(const bool is_row, rows.Step());
    if (!is_row) {
      break;
    }
    if (rows.Integer(kHidden) != 0) {  // computed from others
      return std::optional<StoredTable>();
    }
    const bool is_key = rows.Integer(kKey) != 0;
    keys += is_key ? 1 : 0;
    row_id =
        is_key && IsRowIdType(rows.Text(kType)) ? static_cast<int>(stored->columns.size()) : row_id;
    stored->columns.push_back({std::string(rows.Text(kName)), false,
                               IsRealType(std::string(rows.Text(kType))),
                               rows.Integer(kHasDefault) != 0});
  }
  // A key that is not the row id ("INTEGER PRIMARY KEY DESC", for one) has an index.
  BS_ASSIGN(
      const int64_t key_indexes,
      Number(database, "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'", table));
  if (row_id != PageRows::kNoColumn && keys == 1 && key_indexes == 0) {
    stored->columns[static_cast<size_t>(row_id)].is_row_id = true;
  }
  BS_ASSIGN(const int64_t root,
            Number(database, "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?",
                   table));
  stored->root_page = root > 0 && root <= UINT32_MAX ? static_cast<uint32_t>(root) : 0;
  return stored;
}

// "NOT INDEXED": an index that covers the columns would give the rows in its own order.
std::string SelectOf(std::string_view table, std::span<const std::string> columns) {
  std::string sql = "SELECT ";
  for (const std::string& column : columns) {
    sql += &column == columns.data() ? "" : ",";
    sql += column.empty() ? "NULL" : SqlName(column);
  }
  return sql + " FROM " + SqlName(table) + " NOT INDEXED";
}

}  // namespace

Result<SqlTable> SqlTable::Open(const SqlDatabase& database, std::string_view table,
                                std::span<const std::string_view> columns) {
  SqlTable rows;
  rows.database_ = &database;
  rows.table_ = table;
  rows.columns_.assign(columns.begin(), columns.end());
  if (database.reads() != nullptr) {
    (*database.reads())[rows.table_].insert(rows.columns_.begin(), rows.columns_.end());
  }
  BS_TRY(rows.FindPages());
  if (!rows.pages_.has_value()) {
    BS_TRY(rows.GoOnWithSqlite());
  }
  return rows;
}

Result<void> SqlTable::FindPages() {
  if (!PageRows::CanRead(database_->bytes())) {
    return {};
  }
  BS_ASSIGN(const std::optional<StoredTable> stored, FindStored(*database_, table_));
  if (!stored.has_value()) {
    return {};
  }
  std::vector<int> places;
  places.reserve(columns_.size());
  for (const std::string& name : columns_) {
    const auto column = std::find_if(stored->columns.begin(), stored->columns.end(),
                                     [&](const auto& c) { return c.name == name; });
    const bool is_there = !name.empty() && column != stored->columns.end();
    places.push_back(is_there ? static_cast<int>(column - stored->columns.begin())
                              : PageRows::kNoColumn);
  }
  pages_.emplace(database_->bytes(), *stored, places);
  return {};
}

// Skips the rows already read from the pages.
Result<void> SqlTable::GoOnWithSqlite() {
  pages_.reset();
  BS_ASSIGN(statement_, database_->Prepare(SelectOf(table_, columns_)));
  for (uint64_t row = 0; row < rows_; ++row) {
    BS_ASSIGN(const bool is_row, statement_.Step());
    if (!is_row) {
      break;
    }
  }
  return {};
}

Result<bool> SqlTable::Step() {
  if (!texts_.empty()) {
    texts_.clear();
  }
  if (pages_.has_value()) {
    const PageStep step = pages_->Next();
    if (step == PageStep::kRow) {
      CheckStopAt(++rows_);
      return true;
    }
    if (step == PageStep::kEnd) {
      return false;
    }
    if (step == PageStep::kLooped) {
      return Error{ErrorCode::kCorrupt, "its pages name each other in a circle",
                   "copy the file again, or try sqlite3's .recover", database_->name()};
    }
    if (step == PageStep::kGone && pages_->read_error() != 0) {
      return Error{ErrorCode::kIo, std::generic_category().message(pages_->read_error()),
                   "copy the file to a local disk and try again", database_->name()};
    }
    if (step == PageStep::kGone) {
      return Error{ErrorCode::kIo, "changed while it was read",
                   "wait until nobody writes to it, or copy it, and try again", database_->name()};
    }
    BS_TRY(GoOnWithSqlite());
  }
  return statement_.Step();
}

std::string_view SqlTable::Text(int column) const {
  if (!pages_.has_value()) {
    return statement_.Text(column);
  }
  const SqlType type = pages_->type(column);
  return type == SqlType::kInteger || type == SqlType::kReal ? NumberAsText(column)
                                                             : pages_->Bytes(column);
}

std::string_view SqlTable::Blob(int column) const {
  return pages_.has_value() ? Text(column) : statement_.Blob(column);
}

std::string_view SqlTable::NumberAsText(int column) const {
  int64_t integer = 0;
  if (TryInteger(column, integer)) {
    return texts_.emplace_back(std::to_string(integer));
  }
  std::array<char, 64> text{};
  sqlite3_snprintf(text.size(), text.data(), "%!.15g", Real(column));
  return texts_.emplace_back(text.data());
}

}  // namespace borescope::internal
