#include "borescope/query/virtual_table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <memory>
#include <new>

#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"

namespace borescope::internal::query {
namespace {

// SQLite hands out pointers to its own structs; ours begin with them.
struct Table : sqlite3_vtab {
  TableData::Source* source = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  explicit Cursor(TableData::Source& source)
      : sqlite3_vtab_cursor{},
        rows(source.relation, source.data.ranks(), source.orders, source.data.deadline()) {}
  RowCursor rows;
};

TableData::Source& SourceOf(sqlite3_vtab* table) { return *static_cast<Table*>(table)->source; }
RowCursor& RowsOf(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->rows; }

// Neither memory that runs out, nor a stop, nor too many rows must be thrown through SQLite. What
// is wrong is left in `table`, where there is one.
template <class Body>
int Guarded(sqlite3_vtab* table, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const StopRequested&) {
    return SQLITE_INTERRUPT;
  } catch (const TooManyRows& error) {
    if (table != nullptr) {
      sqlite3_free(table->zErrMsg);
      table->zErrMsg = sqlite3_mprintf("%s", error.what());
    }
    return SQLITE_ERROR;
  }
}

std::string SchemaOf(const Relation& relation) {
  std::string columns;
  for (const ColumnSpec& column : relation.columns) {
    columns +=
        fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, TypeName(column.type));
  }
  return fmt::format("CREATE TABLE x({})", columns);
}

int Connect(sqlite3* database, void* source, int, const char* const*, sqlite3_vtab** table,
            char**) {
  return Guarded(nullptr, [&] {
    auto made = std::make_unique<Table>();
    made->source = static_cast<TableData::Source*>(source);
    sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
    const int status = sqlite3_declare_vtab(database, SchemaOf(made->source->relation).c_str());
    if (status == SQLITE_OK) {
      *table = made.release();
    }
    return status;
  });
}

int Disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);  // NOLINT(cppcoreguidelines-owning-memory): SQLite owned it
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab* table, sqlite3_index_info* question) {
  return Guarded(nullptr, [&] {
    const TableData::Source& source = SourceOf(table);
    const Plan plan = MakePlan(source.relation, source.data.ranks(), *question);
    question->idxStr = sqlite3_mprintf("%s", PlanText(plan).c_str());
    question->needToFreeIdxStr = 1;
    return question->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  });
}

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  return Guarded(nullptr, [&] {
    *cursor = std::make_unique<Cursor>(SourceOf(table)).release();
    return SQLITE_OK;
  });
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);  // NOLINT(cppcoreguidelines-owning-memory): as above
  return SQLITE_OK;
}

FilterValue NumberOf(sqlite3_value* value) {
  const auto number = FilterValue::Kind::kNumber;
  if (sqlite3_value_type(value) == SQLITE_INTEGER) {
    return {number, sqlite3_value_int64(value), {}};
  }
  constexpr double kExact = 9e15;  // below, every double without a fraction is an integer
  const double real = sqlite3_value_type(value) == SQLITE_FLOAT ? sqlite3_value_double(value) : 0.5;
  return std::abs(real) < kExact && real == std::floor(real)
             ? FilterValue{number, static_cast<int64_t>(real), {}}
             : FilterValue{};
}

FilterValue ValueOf(sqlite3_value* value, ColumnType type) {
  if (sqlite3_value_type(value) == SQLITE_NULL) {
    return {FilterValue::Kind::kNothing, 0, {}};
  }
  if (type == ColumnType::kInteger) {
    return NumberOf(value);
  }
  if (sqlite3_value_type(value) != SQLITE_TEXT) {
    return {};
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {FilterValue::Kind::kText, 0, {text, static_cast<size_t>(sqlite3_value_bytes(value))}};
}

int StatusOf(const RowCursor& rows) { return rows.timed_out() ? SQLITE_INTERRUPT : SQLITE_OK; }

int Filter(sqlite3_vtab_cursor* cursor, int, const char* plan_text, int count,
           sqlite3_value** arguments) {
  return Guarded(cursor->pVtab, [&] {
    const Relation& relation = SourceOf(cursor->pVtab).relation;
    const Plan plan = ParsePlan(plan_text);
    std::vector<FilterValue> values;
    values.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      const uint8_t column = plan.filters[static_cast<size_t>(i)].column;
      values.push_back(ValueOf(arguments[i], relation.columns[column].type));
    }
    RowsOf(cursor).Start(plan, values);
    return StatusOf(RowsOf(cursor));
  });
}

int Next(sqlite3_vtab_cursor* cursor) {
  RowsOf(cursor).Next();
  return StatusOf(RowsOf(cursor));
}

int IsAtEnd(sqlite3_vtab_cursor* cursor) { return RowsOf(cursor).at_end() ? 1 : 0; }

void ReturnText(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
}

int GetColumn(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  RowCursor& rows = RowsOf(cursor);
  const Cell cell = rows.Get(static_cast<size_t>(column));
  switch (cell.kind) {
    case CellKind::kNull:
      sqlite3_result_null(context);
      break;
    case CellKind::kInt:
      sqlite3_result_int64(context, cell.number);
      break;
    case CellKind::kReal:
      sqlite3_result_double(context, cell.real);
      break;
    case CellKind::kPooled:
    case CellKind::kText:
      ReturnText(context, TextOf(cell, rows.rank().trace));
      break;
  }
  return SQLITE_OK;
}

int GetRowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* row_id) {
  *row_id = static_cast<sqlite3_int64>(RowsOf(cursor).row_id());
  return SQLITE_OK;
}

// Without xCreate a module is a table by its own name and nothing else.
constexpr sqlite3_module MakeModule() {
  sqlite3_module module{};
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = IsAtEnd;
  module.xColumn = GetColumn;
  module.xRowid = GetRowId;
  return module;
}
constexpr sqlite3_module kModule = MakeModule();

}  // namespace

TableData::TableData(std::span<const RankData> ranks) {
  ranks_.reserve(ranks.size());
  for (const RankData& rank : ranks) {
    ranks_.emplace_back(rank);
  }
  for (const Relation& relation : Relations()) {
    sources_.push_back({relation, *this, RowOrders(relation, ranks_)});
  }
}

Result<void> RegisterTables(SqlDatabase& database, TableData& data) {
  for (TableData::Source& source : data.sources()) {
    const std::string name(source.relation.name);
    const int status =
        sqlite3_create_module_v2(database.handle(), name.c_str(), &kModule, &source, nullptr);
    if (status != SQLITE_OK) {
      return Error{ErrorCode::kIo, fmt::format("query: SQLite: {}", sqlite3_errstr(status))};
    }
  }
  return {};
}

}  // namespace borescope::internal::query
