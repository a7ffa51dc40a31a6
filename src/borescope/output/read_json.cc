#include "borescope/output/read_json.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/json/json_check.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/output/utf8.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table.h"

namespace borescope::internal {

namespace {

constexpr size_t kMostShown = 40;  // characters of a value in a message

// What a string says, nothing where it is not text.
std::optional<std::string> Decoded(std::string_view content) {
  std::string scratch;
  StringRepairs repairs;
  std::string text(DecodeString(content, scratch, repairs));
  const bool is_text = !repairs.invalid_utf8 && !repairs.control && !repairs.bad_escape;
  return is_text ? std::optional(std::move(text)) : std::nullopt;
}

// The byte where the text cannot go on as JSON; its size if it ends too early. Nothing if all of it
// is one value.
std::optional<size_t> FindFault(std::string_view text) {
  constexpr size_t kPiece = size_t{64} << 10;
  JsonCheck check;
  for (size_t at = 0; at < text.size(); at += kPiece) {
    JsonCheck slow = check;
    if (check.Take(text.substr(at, kPiece))) {
      continue;
    }
    while (at < text.size() && slow.Take(text.substr(at, 1))) {
      ++at;
    }
    return at;
  }
  return check.Finish() ? std::nullopt : std::optional(text.size());
}

}  // namespace

Error JsonValues::FaultAt(size_t offset, std::string_view cause) const {
  return {.code = ErrorCode::kCorrupt, .cause = std::string(cause), .offset = offset};
}

Error JsonValues::Fault(std::string_view at, std::string_view cause) const {
  return FaultAt(static_cast<size_t>(at.data() - text_.data()), cause);
}

Error JsonValues::NotA(std::string_view value, std::string_view what) const {
  const bool is_long = value.size() > kMostShown;
  const std::string shown = ToPrintable(value.substr(0, kMostShown)) + (is_long ? "..." : "");
  return Fault(value, "'" + shown + "' is no " + std::string(what));
}

Result<void> JsonValues::Check() const {
  const std::optional<size_t> fault = FindFault(text_);
  if (!fault.has_value()) {
    return {};
  }
  return FaultAt(*fault, *fault == text_.size() ? "the text ends too early" : "this is no JSON");
}

Result<void> JsonValues::Members(std::string_view object, std::span<JsonMember> members) const {
  JsonCursor cursor(object);
  if (!cursor.EnterObject()) {
    return NotA(object, "object");
  }
  for (std::string_view raw; cursor.NextMember(raw);) {
    const std::string_view value = cursor.Value();
    const std::optional<std::string> key = Decoded(raw);
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const JsonMember& one) { return one.key == key; });
    if (member != members.end() && !member->value.empty()) {
      return Fault(raw, "a second member \"" + *key + "\"");
    }
    if (member != members.end()) {
      member->value = value;
    }
  }
  for (const JsonMember& member : members) {
    if (member.is_required && member.value.empty()) {
      return Fault(object, "there is no member \"" + std::string(member.key) + "\"");
    }
  }
  return {};
}

Result<void> JsonValues::Elements(std::string_view array,
                                  const std::function<Result<void>(std::string_view)>& read) const {
  JsonCursor cursor(array);
  if (!cursor.EnterArray()) {
    return NotA(array, "list");
  }
  while (cursor.NextElement()) {
    BS_TRY(read(cursor.Value()));
  }
  return {};
}

Result<std::string> JsonValues::Text(std::string_view value) const {
  if (!IsString(value)) {
    return NotA(value, "text");
  }
  std::optional<std::string> text = Decoded(StringContent(value));
  if (!text.has_value()) {
    return Fault(value, "a text that is not valid UTF-8");
  }
  return std::move(*text);
}

Result<int64_t> JsonValues::Int(std::string_view value) const {
  const std::optional<int64_t> number = ParseNumber<int64_t>(value);
  return number.has_value() ? Result<int64_t>(*number) : NotA(value, "whole number of 64 bits");
}

Result<uint64_t> JsonValues::Uint(std::string_view value) const {
  const std::optional<uint64_t> number = ParseNumber<uint64_t>(value);
  return number.has_value() ? Result<uint64_t>(*number) : NotA(value, "count");
}

Result<double> JsonValues::Double(std::string_view value) const {
  const std::optional<double> number = ParseNumber<double>(value);
  return number.has_value() ? Result<double>(*number) : NotA(value, "number that a double holds");
}

Result<bool> JsonValues::Bool(std::string_view value) const {
  if (value != "true" && value != "false") {
    return NotA(value, "truth value");
  }
  return value == "true";
}

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
