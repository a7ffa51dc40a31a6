#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/base/version.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/writer.h"
#include "borescope/table/display/view.h"

namespace borescope::internal {
namespace {

constexpr int64_t kSchema = 2;

void PutCell(JsonWriter& json, int64_t value) { json.Int(value); }
void PutCell(JsonWriter& json, double value) { json.Double(value); }
void PutCell(JsonWriter& json, const std::string& value) { json.String(value); }
void PutCell(JsonWriter& json, char value) { json.Bool(value != 0); }

std::string_view TypeName(const Column& column) {
  constexpr std::string_view kNames[] = {"int", "float", "string", "bool"};
  return kNames[column.values.index()];
}

// The cells that the palette has a tone for, in order of first appearance.
std::vector<std::pair<std::string_view, Tone>> TonesOf(const Column& column) {
  std::vector<std::pair<std::string_view, Tone>> tones;
  const auto* const cells = std::get_if<StringValues>(&column.values);
  for (size_t i = 0; cells != nullptr && i < cells->texts().size(); ++i) {
    const std::string& text = cells->texts()[i];
    if (const std::optional<Tone> tone = ToneOfCell(column.hints.palette, text); tone.has_value()) {
      tones.emplace_back(text, *tone);
    }
  }
  return tones;
}

void PutPalette(JsonWriter& json, const Column& column) {
  json.Member("palette", PaletteName(column.hints.palette));
  const std::vector<std::pair<std::string_view, Tone>> tones = TonesOf(column);
  if (tones.empty()) {
    return;
  }
  json.Key("tones");
  json.BeginObject();
  for (const auto& [cell, tone] : tones) {
    json.Member(cell, ToneName(tone));
  }
  json.EndObject();
}

void PutHints(JsonWriter& json, const Column& column) {
  const ColumnHints& hints = column.hints;
  if (hints == ColumnHints()) {
    return;
  }
  json.Key("hints");
  json.BeginObject();
  if (hints.tone.has_value()) {
    json.Member("tone", ToneName(*hints.tone));
  }
  if (hints.palette != Palette::kNone) {
    PutPalette(json, column);
  }
  if (hints.names) {
    json.Key("names");
    json.Bool(true);
  }
  json.EndObject();
}

// How cells are written: each by itself, or where texts recur, once each and their numbers.
enum class Form : uint8_t { kPlain, kPacked };

// Whether the texts of a column are shorter as a list of all that differ, and a number for each
// row.
const StringValues* PackedCells(const Column& column, Form form) {
  constexpr size_t kLeastRows = 8;
  constexpr size_t kLeastRepeats = 2;  // of each text, on average
  const auto* const cells = std::get_if<StringValues>(&column.values);
  const bool is_packed = form == Form::kPacked && cells != nullptr && cells->size() >= kLeastRows &&
                         cells->texts().size() * kLeastRepeats <= cells->size();
  return is_packed ? cells : nullptr;
}

void PutPackedCells(JsonWriter& json, const Column& column, const StringValues& cells) {
  json.Key("texts");
  json.BeginArray();
  for (const std::string& text : cells.texts()) {
    json.String(text);
  }
  json.EndArray();
  json.Key("cells");
  json.BeginArray();
  for (size_t row = 0; row < cells.size(); ++row) {
    column.IsMissing(row) ? json.Null() : json.Uint(cells.numbers()[row]);
  }
  json.EndArray();
}

void PutCells(JsonWriter& json, const Column& column) {
  json.Key("values");
  json.BeginArray();
  std::visit(
      [&](const auto& cells) {
        for (size_t row = 0; row < cells.size(); ++row) {
          column.IsMissing(row) ? json.Null() : PutCell(json, cells[row]);
        }
      },
      column.values);
  json.EndArray();
}

void PutColumn(JsonWriter& json, const Column& column, Form form) {
  json.BreakLine(4);
  json.BeginObject();
  json.Member("name", column.name);
  json.Member("type", TypeName(column));
  json.Key("unit");
  const std::string_view unit = UnitName(column.unit);
  unit.empty() ? json.Null() : json.String(unit);
  json.Member("role", RoleName(column.role));
  json.Member("doc", column.doc);
  PutHints(json, column);
  if (const StringValues* const cells = PackedCells(column, form); cells != nullptr) {
    PutPackedCells(json, column, *cells);
  } else {
    PutCells(json, column);
  }
  json.EndObject();
}

void PutTable(JsonWriter& json, const Table& table, Form form) {
  json.BreakLine(2);
  json.BeginObject();
  json.Member("name", table.name);
  json.Member("title", table.title);
  json.Key("columns");
  json.BeginArray();
  for (const Column& column : table.columns) {
    PutColumn(json, column, form);
  }
  json.EndArray();
  json.EndObject();
}

void PutDiagnostic(JsonWriter& json, const Diagnostic& row) {
  json.BreakLine(2);
  json.BeginObject();
  json.Member("code", row.code);
  json.Member("severity", SeverityName(row.severity));
  json.Key("count");
  json.Uint(row.count);
  json.Member("file", row.file);
  json.Member("first", row.first);
  json.Member("help", row.help);
  json.EndObject();
}

// A line for each column: long enough to be read by programs, short enough for a diff.
Result<void> PutDocument(const Document& document, Form form, bool printable, Sink& sink) {
  JsonWriter json(sink, printable);
  json.BeginObject();
  json.Member("borescope", Version());
  json.Key("schema");
  json.Int(kSchema);
  json.BreakLine(1);
  json.Key("tables");
  json.BeginArray();
  for (const Table& table : document.tables) {
    PutTable(json, table, form);
  }
  json.EndArray();
  json.BreakLine(1);
  json.Key("diagnostics");
  json.BeginArray();
  for (const Diagnostic& row : document.diagnostics) {
    PutDiagnostic(json, row);
  }
  json.EndArray();
  json.EndObject();
  return json.Finish();
}

}  // namespace

Result<void> WriteJson(const Document& document, const WriteOptions& options, Sink& sink) {
  return PutDocument(document, Form::kPlain, options.printable, sink);
}

Result<void> WritePackedJson(const Document& document, Sink& sink) {
  return PutDocument(document, Form::kPacked, false, sink);
}

}  // namespace borescope::internal
