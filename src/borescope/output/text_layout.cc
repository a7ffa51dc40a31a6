#include "borescope/output/text_layout.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "borescope/output/units.h"
#include "borescope/output/utf8.h"

namespace borescope {
namespace {

constexpr size_t kGap = 2;               // blanks between columns
constexpr size_t kRemarkWidth = 24;      // longer derived text is a remark
constexpr size_t kSmallestText = 16;     // no text column is made narrower
constexpr size_t kNoteIndent = 4;
constexpr size_t kMostSidewaysRows = 3;
constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

using Lines = std::vector<std::string>;

struct TextColumn {
  const Column* source = nullptr;
  std::string heading;
  std::string unit;
  Lines cells;
  bool is_text = false;    // may be shortened; aligned left
  bool is_remark = false;
  size_t cell_width = 0;   // of the widest cell
  // Decided by the layout:
  Lines heading_lines;     // the unit is the last one, in all columns or in none
  size_t natural = 0;      // width that shows everything
  size_t width = 0;

  bool is_key() const { return source->role == Role::kKey; }
};

using Columns = std::vector<TextColumn>;
using Block = std::vector<const TextColumn*>;

// One try to fit a table; see the header.
struct Attempt {
  Precision precision;
  bool break_headings;
  bool remarks_below;
  size_t smallest_text;  // how far text columns may shrink
};
constexpr Attempt kAttempts[] = {
    {Precision::kFull, false, false, kUnlimited},
    {Precision::kFull, false, true, 40},
    {Precision::kFull, true, true, 32},
    {Precision::kCompact, true, true, 24},
    {Precision::kCompact, true, true, kSmallestText},
};

// The name without its unit, which stands below it: "exposed_comm_ns" -> "exposed comm".
std::string HeadingOf(const Column& column) {
  std::string name = column.name;
  if (column.unit != Unit::kNone) {
    for (const std::string_view suffix : {"_ns", "_us", "_bytes", "_share", "_gbps"}) {
      if (name.size() > suffix.size() && name.ends_with(suffix)) {
        name.resize(name.size() - suffix.size());
        break;
      }
    }
  }
  std::replace(name.begin(), name.end(), '_', ' ');
  return ToPrintable(name);
}

size_t WidestOf(const Lines& lines) {
  size_t width = 0;
  for (const std::string& line : lines) {
    width = std::max(width, DisplayWidth(line));
  }
  return width;
}

void FormatCells(TextColumn& column, Precision precision) {
  const NumberFormat format = ChooseFormat(*column.source, precision);
  column.unit = format.unit;
  column.cells.clear();
  for (size_t row = 0; row < column.source->size(); ++row) {
    column.cells.push_back(FormatCell(*column.source, format, row));
  }
  column.cell_width = WidestOf(column.cells);
}

Columns MakeColumns(const Table& table) {
  Columns columns;
  for (const Column& source : table.columns) {
    TextColumn& column = columns.emplace_back();
    column.source = &source;
    column.heading = HeadingOf(source);
    column.is_text = std::holds_alternative<StringValues>(source.values);
    FormatCells(column, Precision::kFull);
    column.is_remark = column.is_text && !column.is_key() && column.cell_width > kRemarkWidth;
  }
  return columns;
}

void UsePrecision(Columns& columns, Precision precision) {
  for (TextColumn& column : columns) {
    if (!column.is_text) {
      FormatCells(column, precision);
    }
  }
}

// The width of the longest word, which a heading cannot be broken below.
size_t LongestWord(std::string_view text) { return WidestOf(WrapText(text, 1'000'000)); }

void SetHeadings(Columns& columns, bool break_headings) {
  const bool units = std::any_of(columns.begin(), columns.end(),
                                 [](const TextColumn& column) { return !column.unit.empty(); });
  for (TextColumn& column : columns) {
    column.heading_lines = {column.heading};
    if (break_headings) {
      size_t word = 1;
      for (size_t begin = 0; begin <= column.heading.size();) {
        const size_t end = std::min(column.heading.find(' ', begin), column.heading.size());
        word = std::max(word, LongestWord(column.heading.substr(begin, end - begin)));
        begin = end + 1;
      }
      column.heading_lines = WrapText(column.heading, std::max(word, column.cell_width));
    }
    if (units) {
      column.heading_lines.push_back(column.unit);
    }
    column.natural = std::max(column.cell_width, WidestOf(column.heading_lines));
  }
}

size_t TotalWidth(std::span<TextColumn* const> columns, size_t text_limit) {
  size_t total = columns.empty() ? 0 : kGap * (columns.size() - 1);
  for (const TextColumn* column : columns) {
    const size_t least = std::max(text_limit, WidestOf(column->heading_lines));
    total += column->is_text ? std::min(column->natural, least) : column->natural;
  }
  return total;
}

// Sets widths so that the columns fit; long text columns get equal shares. False if that would make
// one narrower than `smallest_text`; the widths are then those of `smallest_text`.
bool Fit(std::span<TextColumn* const> columns, size_t width, size_t smallest_text) {
  size_t limit = std::max(width, smallest_text);
  if (smallest_text != kUnlimited) {
    while (limit > smallest_text && TotalWidth(columns, limit) > width) {
      --limit;
    }
  }
  for (TextColumn* column : columns) {
    const size_t least = std::max(limit, WidestOf(column->heading_lines));
    column->width = column->is_text ? std::min(column->natural, least) : column->natural;
  }
  return TotalWidth(columns, limit) <= width;
}

std::string Padded(std::string_view text, const TextColumn& column) {
  const std::string cell = ShortenMiddle(text, column.width);
  const std::string blanks(column.width - std::min(column.width, DisplayWidth(cell)), ' ');
  return column.is_text ? cell + blanks : blanks + cell;
}

std::string JoinCells(const Lines& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += (i == 0 ? "" : std::string(kGap, ' ')) + cells[i];
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Emphasised(const std::string& line, bool bold) {
  return bold && !line.empty() ? "\x1b[1m" + line + "\x1b[0m" : line;
}

std::string Rule(const Block& block) {
  size_t width = kGap * (block.size() - 1);
  for (const TextColumn* column : block) {
    width += column->width;
  }
  std::string rule;
  for (size_t i = 0; i < width; ++i) {
    rule += "\xE2\x94\x80";
  }
  return rule;
}

// Headings stand on the rule: those with fewer lines start lower.
std::string HeadingText(const Block& block, bool bold) {
  size_t height = 0;
  for (const TextColumn* column : block) {
    height = std::max(height, column->heading_lines.size());
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    Lines cells;
    for (const TextColumn* column : block) {
      const size_t above = height - column->heading_lines.size();
      cells.push_back(Padded(line < above ? "" : column->heading_lines[line - above], *column));
    }
    text += Emphasised(JoinCells(cells), bold) + '\n';
  }
  return text + Rule(block) + '\n';
}

// The remarks of one row, below it.
std::string NotesText(const Block& notes, size_t row, size_t width) {
  std::string text;
  for (const TextColumn* note : notes) {
    const std::string& remark = note->cells[row];
    if (remark.empty() || note->source->IsMissing(row)) {
      continue;
    }
    const std::string label = note->heading.empty() ? "" : note->heading + ": ";
    const size_t room = width > kNoteIndent + kSmallestText ? width - kNoteIndent : kSmallestText;
    for (const std::string& line : WrapText(label + remark, room)) {
      text += std::string(kNoteIndent, ' ') + line + '\n';
    }
  }
  return text;
}

std::string BlockText(const Block& block, const Block& notes, size_t rows, const TextStyle& style) {
  std::string text = HeadingText(block, style.bold);
  Lines cells;
  for (size_t row = 0; row < rows; ++row) {
    cells.clear();
    for (const TextColumn* column : block) {
      cells.push_back(Padded(column->cells[row], *column));
    }
    text += JoinCells(cells) + '\n' + NotesText(notes, row, style.width);
  }
  return text;
}

// Each column becomes a line, each row a column of wrapped text.
std::string SidewaysText(const Columns& columns, size_t rows, const TextStyle& style) {
  size_t label_width = 0;
  for (const TextColumn& column : columns) {
    label_width = std::max(label_width, DisplayWidth(column.heading));
  }
  const size_t room = style.width > label_width ? style.width - label_width : 0;
  const size_t each = std::max(kSmallestText, room / rows > kGap ? room / rows - kGap : 0);
  std::string text;
  for (const TextColumn& column : columns) {
    std::vector<Lines> cells;
    size_t height = 0;
    for (const std::string& cell : column.cells) {
      const bool with_unit = !column.unit.empty() && cell != "-";
      cells.push_back(WrapText(with_unit ? cell + " " + column.unit : cell, each));
      height = std::max(height, cells.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      std::string label = line == 0 ? column.heading : "";
      label.append(label_width - DisplayWidth(label), ' ');
      Lines parts{Emphasised(label, style.bold)};
      for (const Lines& cell : cells) {
        std::string part = line < cell.size() ? cell[line] : "";
        part.append(each - std::min(each, DisplayWidth(part)), ' ');
        parts.push_back(part);
      }
      text += JoinCells(parts) + '\n';
    }
  }
  return text;
}

// The columns that every block repeats: leading keys, as long as any other column fits beside them.
std::vector<TextColumn*> RepeatedColumns(std::span<TextColumn* const> columns, size_t width) {
  std::vector<TextColumn*> repeated;
  size_t widest = 0;
  for (TextColumn* column : columns) {
    widest = std::max(widest, TotalWidth(std::span(&column, 1), kSmallestText));
  }
  for (TextColumn* column : columns) {
    repeated.push_back(column);
    const bool fits = TotalWidth(repeated, kSmallestText) + kGap + widest <= width;
    if (!column->is_key() || !fits) {
      repeated.pop_back();
      break;
    }
  }
  return repeated;
}

std::string SplitText(std::span<TextColumn* const> columns, const Block& notes, size_t rows,
                      const TextStyle& style) {
  const std::vector<TextColumn*> repeated = RepeatedColumns(columns, style.width);
  std::string text;
  std::vector<TextColumn*> block = repeated;
  for (size_t i = repeated.size(); i < columns.size(); ++i) {
    block.push_back(columns[i]);
    std::vector<TextColumn*> longer = block;
    if (i + 1 < columns.size()) {
      longer.push_back(columns[i + 1]);
    }
    const bool last = i + 1 == columns.size();
    if (!last && TotalWidth(longer, kSmallestText) <= style.width) {
      continue;
    }
    static_cast<void>(Fit(block, style.width, kSmallestText));
    text += (text.empty() ? "" : "\n");
    text += BlockText({block.begin(), block.end()}, last ? notes : Block(), rows, style);
    block = repeated;
  }
  return text;
}

// The columns of the table proper and, in `notes`, the remarks below its rows.
std::vector<TextColumn*> PlaceColumns(Columns& columns, bool remarks_below, Block& notes) {
  std::vector<TextColumn*> placed;
  notes.clear();
  for (TextColumn& column : columns) {
    if (remarks_below && column.is_remark) {
      notes.push_back(&column);
    } else {
      placed.push_back(&column);
    }
  }
  return placed;
}

std::string BodyText(Columns& columns, size_t rows, const TextStyle& style) {
  Block notes;
  std::vector<TextColumn*> placed;
  Precision precision = Precision::kFull;
  for (const Attempt& attempt : kAttempts) {
    if (attempt.precision != precision) {
      precision = attempt.precision;
      UsePrecision(columns, precision);
    }
    SetHeadings(columns, attempt.break_headings);
    placed = PlaceColumns(columns, attempt.remarks_below, notes);
    if (Fit(placed, style.width, attempt.smallest_text)) {
      return BlockText({placed.begin(), placed.end()}, notes, rows, style);
    }
  }
  if (rows <= kMostSidewaysRows) {
    UsePrecision(columns, Precision::kFull);
    return SidewaysText(columns, rows, style);
  }
  return SplitText(placed, notes, rows, style);
}

}  // namespace

std::string TitleLine(std::string_view title, const TextStyle& style) {
  return Emphasised(ToPrintable(title), style.bold) + '\n';
}

std::string LayOutTable(const Table& table, const TextStyle& style) {
  std::string text = TitleLine(table.title.empty() ? table.name : table.title, style);
  if (table.rows() == 0) {
    return text + "(no rows)\n";
  }
  Columns columns = MakeColumns(table);
  return text + BodyText(columns, table.rows(), style);
}

}  // namespace borescope
