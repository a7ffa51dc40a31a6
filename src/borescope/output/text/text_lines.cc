#include "borescope/output/text/text_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "borescope/output/json_writer.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

std::string ValueText(int64_t value) { return fmt::format("{}", value); }
std::string ValueText(double value) { return std::isfinite(value) ? ShortestDouble(value) : "-"; }
std::string ValueText(const std::string& value) { return ToPrintable(value); }
std::string ValueText(char value) { return value != 0 ? "true" : "false"; }

std::string CellText(const Column& column, size_t row) {
  if (column.IsMissing(row)) {
    return "-";
  }
  return std::visit([&](const auto& cells) { return ValueText(cells[row]); }, column.values);
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + '"';
}

// The bytes of the first `width` code points at most, and how many these are.
std::pair<size_t, size_t> Prefix(std::string_view text, size_t width) {
  size_t bytes = 0;
  size_t points = 0;
  for (; bytes < text.size() && points < width; ++points) {
    bytes += DecodeUtf8(text.substr(bytes)).bytes;
  }
  return {bytes, points};
}

// At the left, cut.
std::string Fixed(const std::string& text, size_t width) {
  const auto [bytes, points] = Prefix(text, width);
  return text.substr(0, bytes) + std::string(width - points, ' ');
}

class LineWriter {
 public:
  LineWriter(const Table& table, const LineStyle& style) : table_(table), style_(style) {
    widths_ = style.widths;
    if (style.form == LineForm::kFixed) {
      AddNaturalWidths();
    }
  }

  std::string Heading() const {
    if (style_.form == LineForm::kBare) return {};
    std::string line;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      line += Cell(i, ToPrintable(table_.columns[i].name), false);
    }
    return Ended(std::move(line));
  }

  std::string Row(size_t row) const {
    std::string line;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      line += Cell(i, CellText(table_.columns[i], row), table_.columns[i].IsNumber());
    }
    return Ended(std::move(line));
  }

 private:
  void AddNaturalWidths() {
    for (size_t i = widths_.size(); i < table_.columns.size(); ++i) {
      const Column& column = table_.columns[i];
      size_t width = column.name.size();
      for (size_t row = 0; row < table_.rows(); ++row) {
        width = std::max(width, CellText(column, row).size());
      }
      widths_.push_back(width);
    }
  }

  // With what stands behind it.
  std::string Cell(size_t column, const std::string& text, bool is_number) const {
    if (style_.form == LineForm::kSpaced || style_.form == LineForm::kBare) return text + ' ';
    if (style_.form == LineForm::kQuoted) return Quoted(text) + ',';
    const size_t width = widths_[column];
    return is_number ? fmt::format("{:>{}} ", text, width) : Fixed(text, width) + ' ';
  }

  std::string Ended(std::string line) const {
    if (style_.form != LineForm::kFixed && !line.empty()) {
      line.pop_back();
    }
    return line + '\n';
  }

  const Table& table_;
  const LineStyle& style_;
  std::vector<size_t> widths_;
};

}  // namespace

Result<void> WriteLines(const Table& table, const LineStyle& style, Sink& sink) {
  constexpr size_t kFlushBytes = 64 * 1024;
  const LineWriter writer(table, style);
  std::string text = writer.Heading();
  for (size_t row = 0; row < table.rows(); ++row) {
    text += writer.Row(row);
    if (text.size() >= kFlushBytes) {
      BS_TRY(sink.Write(text));
      text.clear();
    }
  }
  return sink.Write(text);
}

}  // namespace borescope::internal
