#include "borescope/output/text_layout.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "borescope/output/text_bars.h"
#include "borescope/output/text_columns.h"
#include "borescope/output/utf8.h"

namespace borescope {
namespace {

constexpr size_t kReadableText = 32;  // a kernel name shorter than this could be any kernel
constexpr size_t kLabelText = 20;  // keys longer than this move to lines of their own, if need be
constexpr size_t kSmallestText = 16;  // no text column is made narrower
constexpr size_t kLabelIndent = 2;    // of what stands below a label
constexpr size_t kNoteIndent = 4;
constexpr size_t kMostSidewaysRows = 3;
constexpr size_t kMostSidewaysLines = 8;  // of one cell: names of kernels fill pages otherwise
constexpr size_t kShortestBar = 8;
constexpr size_t kLongestBar = 40;

using Block = std::vector<const TextColumn*>;

// One try to fit a table; see the header.
struct Attempt {
  Precision precision;
  bool break_headings;
  bool remarks_below;
  bool labels_above;     // long keys on lines of their own
  size_t smallest_text;  // how far text columns may shrink
};
constexpr Attempt kAttempts[] = {
    {Precision::kFull, false, false, false, kUnlimited},
    {Precision::kFull, false, false, false, 40},
    {Precision::kFull, false, true, false, 40},
    {Precision::kFull, true, true, false, kReadableText},
    {Precision::kCompact, true, true, false, kReadableText},
    {Precision::kFull, true, true, true, kSmallestText},
    {Precision::kCompact, true, true, true, kSmallestText},
    {Precision::kCompact, true, true, false, kSmallestText},
};

// Where the columns of a table go.
struct Placement {
  std::vector<TextColumn*> grid;
  Block labels;  // above their row
  Block notes;   // below it
  const RowBars* bars = nullptr;
  size_t bar_width = 0;  // behind the rows of the grid, with the gap before them; 0: none
};

size_t WidthOf(const Block& block, size_t indent) {
  size_t width = indent + kColumnGap * (block.size() - 1);
  for (const TextColumn* column : block) {
    width += column->width;
  }
  return width;
}

std::string Padded(std::string_view text, const TextColumn& column) {
  const std::string cell = ShortenName(text, column.width);
  const std::string blanks(column.width - std::min(column.width, DisplayWidth(cell)), ' ');
  return column.is_text ? cell + blanks : blanks + cell;
}

std::string JoinCells(const Lines& cells, size_t indent) {
  std::string line(indent, ' ');
  for (size_t i = 0; i < cells.size(); ++i) {
    line += (i == 0 ? "" : std::string(kColumnGap, ' ')) + cells[i];
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Emphasised(const std::string& line, bool bold) {
  return bold && !line.empty() ? "\x1b[1m" + line + "\x1b[0m" : line;
}

std::string Rule(size_t width) {
  std::string rule;
  for (size_t i = 0; i < width; ++i) {
    rule += "\xE2\x94\x80";
  }
  return rule;
}

// `line` filled up to where bars begin.
std::string Filled(std::string line, size_t width) {
  const size_t begin = width + kColumnGap;
  line.append(begin - std::min(begin, DisplayWidth(line)), ' ');
  return line;
}

// One line of the headings of the columns.
std::string HeadingLine(const Block& block, size_t indent, size_t height, size_t line) {
  Lines cells;
  for (const TextColumn* column : block) {
    const size_t above = height - column->heading_lines.size();
    cells.push_back(Padded(line < above ? "" : column->heading_lines[line - above], *column));
  }
  return JoinCells(cells, indent);
}

// Headings stand on the rule: those with fewer lines start lower. A line of units is left out where
// no column of the block has one. That of bars stands on the line of names.
std::string HeadingText(const Placement& placed, size_t indent, bool bold) {
  const Block block(placed.grid.begin(), placed.grid.end());
  size_t height = 0;
  for (const TextColumn* column : block) {
    height = std::max(height, column->heading_lines.size());
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    std::string joined = HeadingLine(block, indent, height, line);
    if (placed.bar_width > 0 && line + 2 == std::max<size_t>(height, 2)) {
      joined = Filled(std::move(joined), WidthOf(block, indent)) +
               ShortenMiddle(placed.bars->heading, placed.bar_width - kColumnGap);
    }
    text += joined.empty() ? "" : Emphasised(joined, bold) + '\n';
  }
  return text;
}

// The keys of one row on lines of their own.
std::string LabelsText(const Block& labels, size_t row, const TextStyle& style) {
  std::string text;
  for (const TextColumn* label : labels) {
    text += ShortenName(label->cells[row], style.width) + '\n';
  }
  return text;
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
    for (const std::string& line : WrapText(label + remark, width - kNoteIndent)) {
      text += std::string(kNoteIndent, ' ') + line + '\n';
    }
  }
  return text;
}

// One row of the grid; remarks in it are wrapped and make it several lines high. Bars stand behind
// the first.
std::string RowText(const Placement& placed, size_t row, size_t indent) {
  const Block grid(placed.grid.begin(), placed.grid.end());
  std::vector<Lines> cells;
  size_t height = 1;
  for (const TextColumn* column : grid) {
    const std::string& cell = column->cells[row];
    const bool wrapped = column->is_remark && column->width < column->cell_width;
    cells.push_back(wrapped ? WrapText(cell, column->width) : Lines{cell});
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    Lines parts;
    for (size_t i = 0; i < grid.size(); ++i) {
      parts.push_back(Padded(line < cells[i].size() ? cells[i][line] : "", *grid[i]));
    }
    std::string joined = JoinCells(parts, indent);
    if (line == 0 && placed.bar_width > 0 && placed.bars->shares[row] > 0) {
      joined =
          Filled(std::move(joined), WidthOf(grid, indent)) +
          TextBar(placed.bars->shares[row], placed.bar_width - kColumnGap, placed.bars->tones[row]);
    }
    text += joined + '\n';
  }
  return text;
}

// The grid with its labels and notes; below labels it is indented.
std::string BlockText(const Placement& placed, size_t rows, const TextStyle& style) {
  const Block grid(placed.grid.begin(), placed.grid.end());
  const size_t indent = placed.labels.empty() ? 0 : kLabelIndent;
  std::string text;
  for (const TextColumn* label : placed.labels) {
    text += Emphasised(label->heading, style.colour) + '\n';
  }
  text += HeadingText(placed, indent, style.colour);
  text += Rule(WidthOf(grid, indent) + placed.bar_width) + '\n';
  for (size_t row = 0; row < rows; ++row) {
    text += LabelsText(placed.labels, row, style) + RowText(placed, row, indent) +
            NotesText(placed.notes, row, style.width);
  }
  return text;
}

size_t WidestHeading(const TextColumns& columns) {
  size_t width = 0;
  for (const TextColumn& column : columns) {
    width = std::max(width, DisplayWidth(column.heading));
  }
  return width;
}

// The width of each of `rows` values beside their headings; zero when there is no room for them.
size_t SidewaysWidth(const TextColumns& columns, size_t rows, size_t width) {
  const size_t headings = WidestHeading(columns);
  const size_t each = width > headings ? (width - headings) / rows : 0;
  return each >= kSmallestText + kColumnGap ? each - kColumnGap : 0;
}

// Each column becomes a line, each row a column of wrapped text `each` wide.
std::string SidewaysText(const TextColumns& columns, size_t each, const TextStyle& style) {
  const size_t label_width = WidestHeading(columns);
  std::string text;
  for (const TextColumn& column : columns) {
    std::vector<Lines> cells;
    size_t height = 0;
    for (const std::string& cell : column.cells) {
      const bool with_unit = !column.unit.empty() && cell != "-";
      const std::string whole = with_unit ? cell + " " + column.unit : cell;
      cells.push_back(WrapText(ShortenName(whole, each * kMostSidewaysLines), each));
      height = std::max(height, cells.back().size());
    }
    for (size_t line = 0; line < height; ++line) {
      std::string label = line == 0 ? column.heading : "";
      label.append(label_width - DisplayWidth(label), ' ');
      Lines parts{Emphasised(label, style.colour)};
      for (const Lines& cell : cells) {
        std::string part = line < cell.size() ? cell[line] : "";
        part.append(each - std::min(each, DisplayWidth(part)), ' ');
        parts.push_back(part);
      }
      text += JoinCells(parts, 0) + '\n';
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
    const bool fits = TotalWidth(repeated, kSmallestText) + kColumnGap + widest <= width;
    if (!column->is_key() || !fits) {
      repeated.pop_back();
      break;
    }
  }
  return repeated;
}

// Text that says which row it is goes above its row.
void MoveKeysAbove(Placement& placed) {
  const auto keys = std::stable_partition(
      placed.grid.begin(), placed.grid.end(),
      [](const TextColumn* column) { return !(column->is_key() && column->is_text); });
  if (keys != placed.grid.begin()) {
    placed.labels.assign(keys, placed.grid.end());
    placed.grid.erase(keys, placed.grid.end());
  }
}

// Blocks below each other, each of all rows. What tells the rows apart is in every block.
std::string SplitText(Placement placed, size_t rows, const TextStyle& style) {
  const std::vector<TextColumn*> repeated = RepeatedColumns(placed.grid, style.width);
  if (repeated.empty()) {
    MoveKeysAbove(placed);
  }
  const std::vector<TextColumn*>& columns = placed.grid;
  const size_t width = style.width - (placed.labels.empty() ? 0 : kLabelIndent);
  std::string text;
  std::vector<TextColumn*> block = repeated;
  for (size_t i = repeated.size(); i < columns.size(); ++i) {
    block.push_back(columns[i]);
    const bool last = i + 1 == columns.size();
    std::vector<TextColumn*> longer = block;
    longer.push_back(last ? columns[i] : columns[i + 1]);
    if (!last && TotalWidth(longer, kSmallestText) <= width) {
      continue;
    }
    static_cast<void>(FitColumns(block, width, kSmallestText));
    text += text.empty() ? "" : "\n";
    text += BlockText({block, placed.labels, last ? placed.notes : Block()}, rows, style);
    block = repeated;
  }
  return text;
}

Placement Place(TextColumns& columns, const Attempt& attempt) {
  Placement placed;
  for (TextColumn& column : columns) {
    if (attempt.remarks_below && column.is_remark) {
      placed.notes.push_back(&column);
    } else if (attempt.labels_above && column.is_text && column.cell_width > kLabelText) {
      placed.labels.push_back(&column);
    } else {
      placed.grid.push_back(&column);
    }
  }
  return placed;
}

// Bars take what the columns leave, and text gives way a little for them: no more than it does in
// this attempt without them.
void MakeRoomForBars(const Attempt& attempt, size_t indent, size_t width, Placement& placed) {
  const Block grid(placed.grid.begin(), placed.grid.end());
  size_t used = WidthOf(grid, indent);
  const size_t least = kColumnGap + kShortestBar;
  if (used + least > width) {
    if (!FitColumns(placed.grid, width - indent - least, attempt.smallest_text)) {
      static_cast<void>(FitColumns(placed.grid, width - indent, attempt.smallest_text));
      return;
    }
    used = WidthOf(grid, indent);
  }
  placed.bar_width = std::min(width - used, kColumnGap + kLongestBar);
}

// Whether texts of the column that differ still do so as they are cut.
bool TellsApart(const TextColumn& column) {
  if (!column.is_text || column.is_remark || column.width >= column.cell_width) {
    return true;
  }
  std::unordered_map<std::string, std::string_view> whole_of;
  return std::all_of(column.cells.begin(), column.cells.end(), [&](const std::string& cell) {
    return whole_of.try_emplace(ShortenName(cell, column.width), cell).first->second == cell;
  });
}

// Text gives way to numbers only as far as rows can be told apart: else it goes above its row.
bool Fits(const Placement& placed, const Attempt& attempt, size_t width) {
  return !placed.grid.empty() && FitColumns(placed.grid, width, attempt.smallest_text) &&
         (attempt.labels_above ||
          std::all_of(placed.grid.begin(), placed.grid.end(),
                      [](const TextColumn* column) { return TellsApart(*column); }));
}

std::string BodyText(TextColumns& columns, size_t rows, const TextStyle& style,
                     const RowBars* bars) {
  Placement placed;
  Precision precision = Precision::kFull;
  for (const Attempt& attempt : kAttempts) {
    if (attempt.precision != precision) {
      precision = attempt.precision;
      UsePrecision(columns, precision);
    }
    SetHeadings(columns, attempt.break_headings);
    placed = Place(columns, attempt);
    const size_t indent = placed.labels.empty() ? 0 : kLabelIndent;
    if (Fits(placed, attempt, style.width - indent)) {
      if (bars != nullptr) {
        placed.bars = bars;
        MakeRoomForBars(attempt, indent, style.width, placed);
      }
      return BlockText(placed, rows, style);
    }
  }
  const size_t sideways = SidewaysWidth(columns, rows, style.width);
  if (rows <= kMostSidewaysRows && sideways > 0) {
    UsePrecision(columns, Precision::kFull);
    return SidewaysText(columns, sideways, style);
  }
  return SplitText(std::move(placed), rows, style);
}

}  // namespace

std::string TitleLine(std::string_view title, const TextStyle& style) {
  std::string text;
  for (const std::string& line : WrapText(ToPrintable(title), style.width)) {
    text += Emphasised(line, style.colour) + '\n';
  }
  return text;
}

std::string LayOutTable(const Table& table, const TextStyle& style, const RowBars* bars) {
  std::string text = TitleLine(table.title.empty() ? table.name : table.title, style);
  if (table.rows() == 0) {
    return text + "(none)\n";
  }
  TextColumns columns = MakeColumns(table);
  return text + BodyText(columns, table.rows(), style, bars);
}

}  // namespace borescope
