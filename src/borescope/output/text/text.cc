// Text: title, headings, aligned rows; then, whenever there is something to say, the quality of the
// data the answer rests on. How a table fits the terminal is text_layout.h's business.
#include "borescope/output/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/names/labels.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/text/text_bars.h"
#include "borescope/output/text/text_layout.h"
#include "borescope/output/units/units.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"
#include "borescope/table/table_ops.h"

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

  // With what follows it.
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

namespace {

constexpr int kSmallestWidth = 40;

TextStyle StyleOf(const WriteOptions& options) {
  return {static_cast<size_t>(std::max(options.width, kSmallestWidth)), options.colour};
}

// The rows of all files by kind, worst first; within one severity in order of first appearance.
std::vector<std::vector<const Diagnostic*>> GroupByCode(std::span<const Diagnostic> rows) {
  std::vector<std::vector<const Diagnostic*>> groups;
  for (const Diagnostic& row : rows) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front()->code == row.code;
    });
    if (found == groups.end()) {
      groups.push_back({&row});
    } else {
      found->push_back(&row);
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.front()->severity > b.front()->severity;
  });
  return groups;
}

size_t CountFiles(std::span<const Diagnostic> rows) {
  std::set<std::string_view> files;
  for (const Diagnostic& row : rows) {
    files.insert(row.file);
  }
  return files.size();
}

// Whether a text is the name of a function with its arguments, and not a sentence about one.
bool IsSignature(std::string_view text) {
  const std::string_view head = text.substr(0, text.find_first_of("<("));
  return head.size() < text.size() &&
         (head.starts_with("void ") || head.find("::") != std::string_view::npos) &&
         std::count(head.begin(), head.end(), ' ') <= 1;
}

// An example and no evidence: a kernel name of a thousand characters would bury the rest.
std::string FirstCase(const Diagnostic& row, bool name_file) {
  constexpr size_t kLongest = 120;
  constexpr size_t kLongestName = 80;
  // A sentence ends after a word; a name loses what says least of it, as in tables.
  const std::string whole = ToPrintable(row.first);
  const Lines lines = WrapText(whole, kLongest);
  const bool is_sentence = lines.size() > 1 && lines.front().find(' ') != std::string::npos &&
                           whole.find_first_of("<(") == std::string::npos;
  const std::string first = is_sentence          ? lines.front() + " ..."
                            : IsSignature(whole) ? LabelNames({&whole, 1}, kLongestName).texts[0]
                                                 : ShortenMiddle(whole, kLongest);
  return !name_file ? first : first.empty() ? row.file : row.file + ": " + first;
}

// Whether what is said is about a file as a whole, which no other line of the text may name.
bool IsAboutFile(const Diagnostic& row) {
  return row.code == "unreadable-file" || row.code == "truncated-file";
}

Table QualityTable(std::span<const Diagnostic> rows) {
  const bool many_files = CountFiles(rows) > 1;
  Table table{"quality", "Data quality", {}};
  table.columns.reserve(6);  // keeps the references below valid
  Column& severity = AddString(table, "severity", Role::kKey, "");
  Column& count = AddInt(table, "count", Unit::kCount, Role::kSum, "");
  Column& code = AddString(table, "what", Role::kKey, "");
  Column& files = AddInt(table, "files", Unit::kCount, Role::kSum, "");
  Column& help = AddString(table, "", Role::kDerived, "");
  Column& first = AddString(table, "first", Role::kDerived, "");
  for (const auto& group : GroupByCode(rows)) {
    uint64_t total = 0;
    for (const Diagnostic* row : group) {
      total += row->count;
    }
    const Diagnostic& example = *group.front();
    Push(severity, SeverityName(example.severity));
    Push(count, static_cast<int64_t>(total));
    Push(code, std::string_view(example.code));
    Push(files, static_cast<int64_t>(group.size()));
    Push(help, std::string_view(example.help));
    Push(first, std::string_view(FirstCase(
                    example, (many_files && !example.first.empty()) || IsAboutFile(example))));
  }
  if (!many_files) {
    table.columns.erase(table.columns.begin() + (&files - table.columns.data()));
  }
  return table;
}

const ViewSpec* FindView(const Document& document, const Table& table, ViewKind kind) {
  const auto view =
      std::find_if(document.views.begin(), document.views.end(), [&](const ViewSpec& one) {
        return one.kind == kind && FindTable({&table, 1}, one) != nullptr;
      });
  return view == document.views.end() ? nullptr : &*view;
}

// How many rows people see of a table, unless they chose the rows themselves: `most` at most.
size_t ShownRows(const Table& table, size_t most) {
  constexpr size_t kHardlyMore = 2;  // rows that are not worth to be left out
  const size_t usual = table.preview_rows == 0 ? table.rows() : table.preview_rows;
  const bool is_short = most == SIZE_MAX || table.rows() <= most + kHardlyMore;
  return is_short && table.rows() <= usual ? table.rows() : std::min(usual, most);
}

Table Preview(const Table& table, size_t most) {
  const size_t shown = ShownRows(table, most);
  if (shown == table.rows()) {
    return table;
  }
  std::vector<uint32_t> rows(shown);
  std::iota(rows.begin(), rows.end(), 0U);
  Table preview = TakeRows(table, rows);
  preview.title += fmt::format(" (first {} of {} rows; --top N or -f csv for more)", shown,
                               GroupDigits(static_cast<int64_t>(table.rows())));
  return preview;
}

bool IsZero(const Column& column, size_t row) {
  const auto* ints = std::get_if<IntValues>(&column.values);
  const auto* floats = std::get_if<FloatValues>(&column.values);
  return column.IsMissing(row) || (ints != nullptr && (*ints)[row] == 0) ||
         (floats != nullptr && (*floats)[row] == 0);
}

// Without the columns that are for programs and pages alone: labels of asides; and their values,
// where nothing but 0 is in them.
Table WithoutAside(const Document& document, Table table) {
  for (const ViewSpec& view : document.views) {
    if (view.kind == ViewKind::kAside && view.table == table.name) {
      std::erase_if(table.columns, [&](const Column& column) {
        const auto is_one_of = [&](std::span<const std::string_view> names) {
          return std::find(names.begin(), names.end(), column.name) != names.end();
        };
        bool is_zero = is_one_of(view.values);
        for (size_t row = 0; is_zero && row < table.rows(); ++row) {
          is_zero = IsZero(column, row);
        }
        return is_zero || is_one_of(view.labels);
      });
    }
  }
  return table;
}

// The table, with bars behind its rows or a chart below it where its views ask for them and the
// terminal shows colours.
std::string TableText(const Document& document, const Table& table, const TextStyle& style,
                      size_t most_rows = SIZE_MAX) {
  const Table preview =
      WithRowUnits(SinceBegin(WithoutAside(document, Preview(table, most_rows)), document.begins));
  if (!style.colour) {
    return LayOutTable(preview, style);
  }
  const ViewSpec* const bars_view = FindView(document, table, ViewKind::kBars);
  const ViewSpec* const view =
      bars_view != nullptr ? bars_view : FindView(document, table, ViewKind::kIntervals);
  const RowBars bars = view != nullptr ? MakeRowBars(preview, *view) : RowBars();
  std::string text = LayOutTable(preview, style, bars.shares.empty() ? nullptr : &bars);
  for (const ViewKind kind : {ViewKind::kStackedBars, ViewKind::kSeries}) {
    if (const ViewSpec* below = FindView(document, table, kind); below != nullptr) {
      text += ChartBelow(table, *below, style.width);
    }
  }
  return text;
}

constexpr size_t kRestIndent = 2;

size_t LinesOf(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The tables of a document, each with its rows as far as they fit into `most_lines` all together.
// The first one is the answer and has more of them. A table is laid out again only where it gets
// fewer rows than before.
std::vector<std::string> FittedTables(const Document& document, const TextStyle& style,
                                      size_t most_lines) {
  constexpr size_t kRowsOfAnswer = 12;
  constexpr size_t kRows[] = {SIZE_MAX, 10, 6, 4};
  constexpr size_t kNotYet = SIZE_MAX;
  std::vector<std::string> texts(document.tables.size());
  if (texts.empty()) return texts;
  std::vector<size_t> shown(document.tables.size(), kNotYet);
  for (const size_t most : kRows) {
    const bool is_last = most == std::end(kRows)[-1];
    size_t lines = 0;
    for (size_t i = 0; i < texts.size() && (lines <= most_lines || is_last); ++i) {
      const Table& table = document.tables[i];
      const size_t rows = i == 0 ? std::max(most, kRowsOfAnswer) : most;
      const size_t now = ShownRows(table, rows);
      if (lines + now > most_lines && !is_last) {  // a row takes a line at least
        lines += now;
        break;
      }
      if (shown[i] != now) {
        shown[i] = now;
        texts[i] = TableText(document, table, style, rows);
      }
      lines += LinesOf(texts[i]) + 1;
    }
    if (lines <= most_lines) {
      break;
    }
  }
  // A row of the answer may take several lines, which must not leave the next table without room.
  const bool is_alone = std::none_of(document.tables.begin() + 1, document.tables.end(),
                                     [](const Table& table) { return table.rows() > 0; });
  const size_t most_of_answer = is_alone ? most_lines : most_lines * 3 / 5;
  constexpr size_t kFewer[] = {8, 6, 4, 3, 2, 1};
  for (const size_t rows : kFewer) {
    if (LinesOf(texts.front()) < most_of_answer) break;
    if (ShownRows(document.tables.front(), rows) < shown.front()) {
      shown.front() = ShownRows(document.tables.front(), rows);
      texts.front() = TableText(document, document.tables.front(), style, rows);
    }
  }
  return texts;
}

// Names the tables for which there is no room, but for those without rows.
std::string RestText(const std::vector<const Table*>& tables, const TextStyle& style) {
  std::string names;
  for (const Table* one : tables) {
    const Table& table = *one;
    if (table.rows() > 0) {
      const std::string_view title = table.title.empty() ? table.name : table.title;
      const std::string rows =
          table.rows() == 1 ? "1 row" : GroupDigits(static_cast<int64_t>(table.rows())) + " rows";
      names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", ToPrintable(title), rows);
    }
  }
  std::string text;
  for (const std::string& line : WrapText(names, style.width - kRestIndent)) {
    text += std::string(kRestIndent, ' ') + line + '\n';
  }
  return names.empty() ? names : TitleLine("More with --top all", style) + text;
}

// The tables that are shown: the first one, and those that fit below it.
std::vector<bool> TablesThatFit(const std::vector<std::string>& texts, size_t most_lines) {
  std::vector<bool> fits;
  size_t lines = 0;
  for (const std::string& text : texts) {
    const size_t taken = LinesOf(text) + 1;
    fits.push_back(!text.empty() && (fits.empty() || lines + taken <= most_lines));
    lines += fits.back() ? taken : 0;
  }
  return fits;
}

// What people see without asking for more: the answer, and of the other tables, in their order,
// those that fit below it, with the names of the rest and the quality of the data.
Result<void> WriteShort(const Document& document, const TextStyle& style, size_t most_lines,
                        Sink& sink) {
  const std::vector<std::string> texts = FittedTables(document, style, most_lines);
  std::string more;
  std::vector<bool> fits;
  // The names of the rest take room, for which another table may have to give way.
  for (int turn = 0; turn < 2; ++turn) {
    const size_t taken = more.empty() ? 0 : LinesOf(more) + 1;
    fits = TablesThatFit(texts, most_lines - std::min(most_lines, taken));
    std::vector<const Table*> rest;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!fits[i]) rest.push_back(&document.tables[i]);
    }
    more = RestText(rest, style);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    if (fits[i]) BS_TRY(sink.Write((i == 0 ? "" : "\n") + texts[i]));
  }
  return sink.Write(more.empty() ? "" : "\n" + more);
}

// `quality_lines` follow the tables.
Result<void> WriteTables(const Document& document, const TextStyle& style, size_t quality_lines,
                         Sink& sink) {
  const bool has_lines = document.lines.form != LineForm::kNone;
  if (document.most_lines > 0 && !has_lines) {
    const size_t most = document.most_lines;
    return WriteShort(document, style, most - std::min(most / 2, quality_lines), sink);
  }
  for (size_t i = 0; i < document.tables.size(); ++i) {
    const Table& table = document.tables[i];
    BS_TRY(sink.Write(i == 0 ? "" : "\n"));
    if (has_lines && table.name == document.lines.table) {
      BS_TRY(WriteLines(table, document.lines, sink));
    } else {
      BS_TRY(sink.Write(TableText(document, table, style)));
    }
  }
  return {};
}

}  // namespace

Result<void> WriteQuality(std::span<const Diagnostic> rows, const WriteOptions& options,
                          Sink& sink) {
  if (rows.empty()) {
    return {};
  }
  return sink.Write(LayOutTable(QualityTable(rows), StyleOf(options)));
}

Result<void> WriteText(const Document& document, const WriteOptions& options, Sink& sink) {
  const bool has_quality = document.lines.form == LineForm::kNone && !document.diagnostics.empty();
  StringSink quality;
  if (has_quality) {
    BS_TRY(quality.Write(document.tables.empty() ? "" : "\n"));
    BS_TRY(WriteQuality(document.diagnostics, options, quality));
  }
  BS_TRY(WriteTables(document, StyleOf(options), LinesOf(quality.text()), sink));
  return sink.Write(quality.text());
}

}  // namespace borescope::internal
