#include "borescope/output/csv.h"

#include <fmt/format.h>

#include <cmath>

#include "borescope/base/text/utf8.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

void PutCell(std::string& line, int64_t value, const WriteOptions&) {
  fmt::format_to(std::back_inserter(line), "{}", value);
}
void PutCell(std::string& line, double value, const WriteOptions&) {
  if (std::isfinite(value)) {
    line += ShortestDouble(value);
  }
}
void PutCell(std::string& line, char value, const WriteOptions&) {
  line += value != 0 ? "true" : "false";
}

// https://owasp.org/www-community/attacks/CSV_Injection lists what spreadsheets take for a formula.
void PutCell(std::string& line, const std::string& value, const WriteOptions& options) {
  std::string text = options.printable ? ToPrintable(value) : value;
  const bool is_formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  if (options.guard_formulas && is_formula) {
    text.insert(0, 1, '\'');
  }
  line += CsvField(text);
}

std::string HeaderLine(const Table& table) {
  std::string line;
  for (const Column& column : table.columns) {
    line += (line.empty() ? "" : ",") + CsvField(column.name);
  }
  return line + '\n';
}

std::string RowLine(const Table& table, size_t row, const WriteOptions& options) {
  std::string line;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    line += i == 0 ? "" : ",";
    if (!column.IsMissing(row)) {
      std::visit([&](const auto& cells) { PutCell(line, cells[row], options); }, column.values);
    }
  }
  return line + '\n';
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
  for (size_t row = 0; row < table.rows(); ++row) {
    text += RowLine(table, row, options);
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
