// The schema as tables, for --schema and docs/use/sql.md.
#include <fmt/format.h>

#include "borescope/query/database.h"
#include "borescope/query/functions.h"

namespace borescope::internal::query {
namespace {

Table TablesTable() {
  Table table{"tables", "Tables and views", {}};
  table.columns.reserve(3);  // keeps the references below valid
  Column& name = AddString(table, "table", Role::kKey, "Name of the table.");
  Column& kind = AddString(table, "kind", Role::kKey, "table, or view: made of others.");
  Column& doc = AddString(table, "meaning", Role::kDerived, "What a row is.");
  const auto add = [&](std::string_view what, const auto& row) {
    Push(name, row.name);
    Push(kind, what);
    Push(doc, row.doc);
  };
  for (const Relation& relation : Relations()) {
    add("table", relation);
  }
  for (const ViewSpec& view : Views()) {
    add("view", view);
  }
  return table;
}

// The names of the columns of a view, which its SELECT says.
Result<std::vector<std::string>> ColumnsOf(Database& database, const ViewSpec& view) {
  BS_ASSIGN(const std::vector<QueryResult> answers,
            database.Run(fmt::format("SELECT * FROM \"{}\" LIMIT 0", view.name), {}, {}));
  std::vector<std::string> names;
  names.reserve(answers[0].table.columns.size());
  for (const Column& column : answers[0].table.columns) {
    names.push_back(column.name);
  }
  return names;
}

Result<Table> ColumnsTable() {
  Table table{"columns", "Columns", {}};
  table.columns.reserve(4);
  Column& owner = AddString(table, "table", Role::kKey, "Table or view.");
  Column& name = AddString(table, "column", Role::kKey, "Name of the column.");
  Column& type = AddString(table, "type", Role::kDerived, "Type; of views, that of the source.");
  Column& doc = AddString(table, "meaning", Role::kDerived, "What it holds; NULL where unknown.");
  for (const Relation& relation : Relations()) {
    for (const ColumnSpec& column : relation.columns) {
      Push(owner, relation.name);
      Push(name, column.name);
      Push(type, TypeName(column.type));
      Push(doc, column.doc);
    }
  }
  BS_ASSIGN(Database database, Database::Open({}));
  for (const ViewSpec& view : Views()) {
    BS_ASSIGN(const std::vector<std::string> columns, ColumnsOf(database, view));
    for (const std::string& column : columns) {
      Push(owner, view.name);
      Push(name, column);
      PushMissing(type);
      PushMissing(doc);
    }
  }
  return table;
}

Table FunctionsTable() {
  Table table{"functions", "Functions beside those of SQLite", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "function", Role::kKey, "How it is called.");
  Column& doc = AddString(table, "meaning", Role::kDerived, "What it gives.");
  for (const FunctionRow& function : Functions()) {
    Push(name, function.signature);
    Push(doc, function.doc);
  }
  return table;
}

}  // namespace

Result<std::vector<Table>> SchemaTables() {
  BS_ASSIGN(Table columns, ColumnsTable());
  return std::vector<Table>{TablesTable(), std::move(columns), FunctionsTable()};
}

}  // namespace borescope::internal::query
