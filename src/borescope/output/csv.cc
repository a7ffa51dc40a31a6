#include "borescope/output/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "borescope/base/text/text.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

// Whether a line may begin at `at`, for a reader that skips blanks there, and ends lines at other
// control characters and separators than \n, too.
bool MayBeginLine(std::string_view text, size_t at) {
  return at == 0 || static_cast<unsigned char>(text[at - 1]) <= ' ' ||
         static_cast<unsigned char>(text[at - 1]) >= 0x7F;
}

// What build servers obey, anywhere in a line or where one begins, gets a ' inside or before it.
// CSV has no other way to write a character, so that this is no usual CSV.
void SplitCommands(std::string& text) {
  for (size_t at = text.find("##"); at != std::string::npos; at = text.find("##", at + 1)) {
    if (IsCommandAnywhere(std::string_view(text).substr(at))) {
      text.insert(at + 1, 1, '\'');
    }
  }
  for (size_t at = text.find("::"); at != std::string::npos; at = text.find("::", at + 1)) {
    if (MayBeginLine(text, at) && IsLineCommand(std::string_view(text).substr(at))) {
      text.insert(at++, 1, '\'');
    }
  }
}

// https://owasp.org/www-community/attacks/CSV_Injection lists what spreadsheets take for a formula.
std::string FieldOf(const std::string& value, const WriteOptions& options) {
  std::string text = options.printable ? ToPrintable(value) : value;
  const bool is_formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  if (options.guard_formulas) {
    SplitCommands(text);
    text.insert(0, is_formula ? 1 : 0, '\'');
  }
  return CsvField(text);
}

// The cells of a column as fields. Tables with a row per event have few texts, of which each is
// made a field once.
class CsvColumn {
 public:
  CsvColumn(const Column& column, const WriteOptions& options)
      : column_(column), options_(options) {
    const auto* cells = std::get_if<StringValues>(&column.values);
    if (cells != nullptr && cells->texts().size() <= cells->size() / 2) {
      fields_.reserve(cells->texts().size());
      for (const std::string& text : cells->texts()) {
        fields_.push_back(FieldOf(text, options));
      }
    }
  }

  // Appends the field of a row; nothing where it is missing.
  void Put(size_t row, std::string& text) const {
    if (!column_.IsMissing(row)) {
      std::visit([&](const auto& cells) { PutCell(cells, row, text); }, column_.values);
    }
  }

 private:
  static void PutCell(const IntValues& cells, size_t row, std::string& text) {
    const fmt::format_int digits(cells[row]);
    text.append(digits.data(), digits.size());
  }
  static void PutCell(const FloatValues& cells, size_t row, std::string& text) {
    if (std::isfinite(cells[row])) {
      text += ShortestDouble(cells[row]);
    }
  }
  static void PutCell(const BoolValues& cells, size_t row, std::string& text) {
    text += cells[row] != 0 ? "true" : "false";
  }
  void PutCell(const StringValues& cells, size_t row, std::string& text) const {
    if (fields_.empty()) {
      text += FieldOf(cells[row], options_);
    } else {
      text += fields_[cells.numbers()[row]];
    }
  }

  const Column& column_;
  const WriteOptions& options_;
  std::vector<std::string> fields_;  // by number of the text; empty: made for each cell
};

std::string HeaderLine(const Table& table) {
  std::string line;
  for (const Column& column : table.columns) {
    line += (line.empty() ? "" : ",") + CsvField(column.name);
  }
  return line + '\n';
}

void PutRow(const std::vector<CsvColumn>& columns, size_t row, std::string& text) {
  bool is_first = true;
  for (const CsvColumn& column : columns) {
    if (!std::exchange(is_first, false)) {
      text += ',';
    }
    column.Put(row, text);
  }
  text += '\n';
}

}  // namespace

std::string CsvField(std::string_view raw) {
  std::string text = ToValidUtf8(raw);
  const bool plain = text.find_first_of(",\"\r\n") == std::string::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + '"';
}

Result<void> WriteCsvTable(const Table& table, const WriteOptions& options, Sink& sink) {
  constexpr size_t kFlushBytes = 64 * 1024;
  std::string text = HeaderLine(table);
  std::vector<CsvColumn> columns;
  columns.reserve(table.columns.size());
  for (const Column& column : table.columns) {
    columns.emplace_back(column, options);
  }
  for (size_t row = 0; row < table.rows(); ++row) {
    PutRow(columns, row, text);
    if (text.size() >= kFlushBytes) {
      BS_TRY(sink.Write(text));
      text.clear();
    }
  }
  return sink.Write(text);
}

Result<void> WriteCsv(const Document& document, const WriteOptions& options, Sink& sink) {
  for (const Table& table : document.tables) {
    BS_TRY(sink.Write("# " + table.name + "\n"));
    BS_TRY(WriteCsvTable(table, options, sink));
  }
  return {};
}

}  // namespace borescope::internal
