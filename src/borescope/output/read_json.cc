#include "borescope/output/read_json.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "borescope/output/json_values.h"
#include "borescope/output/utf8.h"
#include "borescope/table/display/unit_and_role_names.h"
#include "borescope/table/table_fault.h"

namespace borescope::internal {
namespace {

constexpr int64_t kOldest = 1;  // without roles
constexpr int64_t kNewest = 2;

// The cells of one column. Its values have the right type already.
template <class Read>
Result<void> ReadCells(const JsonValues& json, std::string_view values, Column& column,
                       const Read& read) {
  return json.Elements(values, [&](std::string_view cell) -> Result<void> {
    if (cell == "null") {
      PushMissing(column);
      return {};
    }
    BS_ASSIGN(const auto value, read(cell));
    Push(column, value);
    return {};
  });
}

Result<void> ReadInts(const JsonValues& json, std::string_view values, Column& column) {
  column.values = IntValues();
  return ReadCells(json, values, column, [&](std::string_view cell) { return json.Int(cell); });
}

Result<void> ReadFloats(const JsonValues& json, std::string_view values, Column& column) {
  column.values = FloatValues();
  return ReadCells(json, values, column, [&](std::string_view cell) { return json.Double(cell); });
}

Result<void> ReadTexts(const JsonValues& json, std::string_view values, Column& column) {
  column.values = StringValues();
  return ReadCells(json, values, column, [&](std::string_view cell) { return json.Text(cell); });
}

Result<void> ReadBools(const JsonValues& json, std::string_view values, Column& column) {
  column.values = BoolValues();
  return ReadCells(json, values, column, [&](std::string_view cell) { return json.Bool(cell); });
}

struct TypeRow {
  std::string_view name;
  Result<void> (*read)(const JsonValues&, std::string_view, Column&);
};
constexpr TypeRow kTypes[] = {
    {"int", ReadInts}, {"float", ReadFloats}, {"string", ReadTexts}, {"bool", ReadBools}};

Result<void> ReadValues(const JsonValues& json, std::string_view type, std::string_view values,
                        Column& column) {
  BS_ASSIGN(const std::string name, json.Text(type));
  const auto* const row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                       [&](const TypeRow& one) { return one.name == name; });
  return row == std::end(kTypes) ? json.NotA(type, "type of a column")
                                 : row->read(json, values, column);
}

Result<Unit> ReadUnit(const JsonValues& json, std::string_view value) {
  if (value == "null") {
    return Unit::kNone;
  }
  BS_ASSIGN(const std::string name, json.Text(value));
  const std::optional<Unit> unit = FindUnit(name);
  return unit.has_value() ? Result<Unit>(*unit) : json.NotA(value, "unit");
}

Result<Role> ReadRole(const JsonValues& json, std::string_view value) {
  BS_ASSIGN(const std::string name, json.Text(value));
  const std::optional<Role> role = FindRole(name);
  return role.has_value() ? Result<Role>(*role) : json.NotA(value, "role");
}

// The tones of single cells follow from the palette.
Result<ColumnHints> ReadHints(const JsonValues& json, std::string_view object) {
  JsonMember members[] = {{"tone", false}, {"palette", false}, {"names", false}};
  BS_TRY(json.Members(object, members));
  ColumnHints hints;
  if (!members[0].value.empty()) {
    BS_ASSIGN(const std::string name, json.Text(members[0].value));
    hints.tone = FindTone(name);
  }
  if (!members[1].value.empty()) {
    BS_ASSIGN(const std::string name, json.Text(members[1].value));
    hints.palette = FindPalette(name);
  }
  if (!members[2].value.empty()) {
    BS_ASSIGN(hints.names, json.Bool(members[2].value));
  }
  return hints;
}

Result<Column> ReadColumn(const JsonValues& json, std::string_view object, int64_t schema) {
  const bool has_role = schema > kOldest;
  JsonMember members[] = {{"name"},   {"type"},           {"unit"},        {"doc"},
                          {"values"}, {"role", has_role}, {"hints", false}};
  const auto& [name, type, unit, doc, values, role, hints] = members;
  BS_TRY(json.Members(object, members));
  Column column;
  BS_ASSIGN(column.name, json.Text(name.value));
  BS_ASSIGN(column.unit, ReadUnit(json, unit.value));
  BS_ASSIGN(column.doc, json.Text(doc.value));
  if (has_role) {
    BS_ASSIGN(column.role, ReadRole(json, role.value));
  }
  if (has_role && !hints.value.empty()) {
    BS_ASSIGN(column.hints, ReadHints(json, hints.value));
  }
  BS_TRY(ReadValues(json, type.value, values.value, column));
  return column;
}

Result<Table> ReadTable(const JsonValues& json, std::string_view object, int64_t schema) {
  JsonMember members[] = {{"name"}, {"title"}, {"columns"}};
  BS_TRY(json.Members(object, members));
  Table table;
  BS_ASSIGN(table.name, json.Text(members[0].value));
  BS_ASSIGN(table.title, json.Text(members[1].value));
  BS_TRY(json.Elements(members[2].value, [&](std::string_view column) -> Result<void> {
    BS_ASSIGN(Column read, ReadColumn(json, column, schema));
    table.columns.push_back(std::move(read));
    return {};
  }));
  const std::string fault = FaultOf(table);
  return fault.empty()
             ? Result<Table>(std::move(table))
             : json.Fault(object, "table \"" + ToPrintable(table.name) + "\" has " + fault);
}

Result<Severity> ReadSeverity(const JsonValues& json, std::string_view value) {
  BS_ASSIGN(const std::string name, json.Text(value));
  for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kError}) {
    if (SeverityName(severity) == name) {
      return severity;
    }
  }
  return json.NotA(value, "severity");
}

Result<Diagnostic> ReadDiagnostic(const JsonValues& json, std::string_view object) {
  JsonMember members[] = {{"code"}, {"severity"}, {"count"}, {"file"}, {"first"}, {"help"}};
  const auto& [code, severity, count, file, first, help] = members;
  BS_TRY(json.Members(object, members));
  Diagnostic row;
  BS_ASSIGN(row.code, json.Text(code.value));
  BS_ASSIGN(row.severity, ReadSeverity(json, severity.value));
  BS_ASSIGN(row.count, json.Uint(count.value));
  BS_ASSIGN(row.file, json.Text(file.value));
  BS_ASSIGN(row.first, json.Text(first.value));
  BS_ASSIGN(row.help, json.Text(help.value));
  return row;
}

// What is not of this kind at all is no damage. An execution trace has a `schema`, too.
Result<int64_t> ReadSchema(const JsonValues& json, std::string_view text) {
  JsonMember members[] = {{"schema"}, {"tables"}};
  const Error other = {ErrorCode::kUnsupportedFormat, "this is JSON, but not of tables",
                       "`format` json writes such"};
  if (!json.Members(text, members).ok()) {
    return other;
  }
  const Result<int64_t> schema = json.Int(members[0].value);
  if (!schema.ok()) {
    return other;
  }
  if (*schema < kOldest || *schema > kNewest) {
    return Error{
        ErrorCode::kUnsupportedFormat,
        "tables of schema " + std::to_string(*schema) + ", of which this version reads 1 and 2",
        "read it with a newer version"};
  }
  return *schema;
}

}  // namespace

Result<Document> ReadJson(std::string_view text) {
  const JsonValues json(text);
  BS_TRY(json.Check());
  BS_ASSIGN(const int64_t schema, ReadSchema(json, text));
  JsonMember members[] = {{"tables"}, {"diagnostics"}};
  BS_TRY(json.Members(text, members));
  Document document;
  BS_TRY(json.Elements(members[0].value, [&](std::string_view object) -> Result<void> {
    BS_ASSIGN(Table table, ReadTable(json, object, schema));
    document.tables.push_back(std::move(table));
    return {};
  }));
  BS_TRY(json.Elements(members[1].value, [&](std::string_view object) -> Result<void> {
    BS_ASSIGN(Diagnostic row, ReadDiagnostic(json, object));
    document.diagnostics.push_back(std::move(row));
    return {};
  }));
  return document;
}

}  // namespace borescope::internal
