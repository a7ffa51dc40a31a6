#include "borescope/output/text/text_blocks.h"

#include <algorithm>
#include <utility>

#include "borescope/output/names/labels.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kNoteIndent = 4;
constexpr size_t kRowHang = 2;            // of the further lines of a row
constexpr size_t kMostSidewaysLines = 8;  // of one cell: names of kernels fill pages otherwise

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
std::string HeadingText(const Placement& placed, bool bold) {
  size_t height = 0;
  for (const TextColumn* column : placed.grid) {
    height = std::max(height, column->heading_lines.size());
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    std::string joined = HeadingLine(placed.grid, placed.indent(), height, line);
    if (placed.bar_width > 0 && line + 2 == std::max<size_t>(height, 2)) {
      joined = Filled(std::move(joined), WidthOf(placed.grid, placed.indent())) +
               ShortenMiddle(placed.bars->heading, placed.bar_width - kColumnGap);
    }
    text += joined.empty() ? "" : Emphasised(joined, bold) + '\n';
  }
  return text;
}

// The keys of one row on lines of their own.
std::string LabelsText(const Block& labels, size_t row) {
  std::string text;
  for (const TextColumn* label : labels) {
    for (const std::string& line : CellLines(*label, row, kNoteIndent)) {
      text += line + '\n';
    }
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

// The cells of one row of the grid in lines. Prose beside a number or a name shows where a row
// begins; elsewhere further lines are indented for that.
std::vector<Lines> RowCells(const Block& grid, size_t row) {
  const bool only_prose = std::all_of(grid.begin(), grid.end(),
                                      [](const TextColumn* column) { return column->is_remark; });
  std::vector<Lines> cells;
  for (const TextColumn* column : grid) {
    const bool is_beside = column->is_remark && !only_prose;
    cells.push_back(CellLines(*column, row, is_beside ? 0 : kRowHang));
  }
  return cells;
}

// One row of the grid; wrapped cells make it several lines high. Bars stand behind the first.
std::string RowText(const Placement& placed, size_t row) {
  const std::vector<Lines> cells = RowCells(placed.grid, row);
  size_t height = 1;
  for (const Lines& cell : cells) {
    height = std::max(height, cell.size());
  }
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    Lines parts;
    for (size_t i = 0; i < cells.size(); ++i) {
      parts.push_back(Padded(line < cells[i].size() ? cells[i][line] : "", *placed.grid[i]));
    }
    std::string joined = JoinCells(parts, placed.indent());
    if (line == 0 && placed.bar_width > 0 && placed.bars->shares[row] > 0) {
      joined =
          Filled(std::move(joined), WidthOf(placed.grid, placed.indent())) +
          TextBar(placed.bars->shares[row], placed.bar_width - kColumnGap, placed.bars->tones[row]);
    }
    text += joined + '\n';
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

// The values of one column, each in lines of its own.
std::vector<Lines> SidewaysCells(const TextColumn& column, size_t each) {
  const Lines shown = LabelNames(column.cells, each * kMostSidewaysLines).texts;
  std::vector<Lines> cells;
  for (const std::string& cell : shown) {
    const bool with_unit = !column.unit.empty() && cell != "-";
    cells.push_back(WrapText(with_unit ? cell + " " + column.unit : cell, each));
  }
  return cells;
}

}  // namespace

size_t WidthOf(const Block& block, size_t indent) {
  size_t width = indent + kColumnGap * (std::max<size_t>(block.size(), 1) - 1);
  for (const TextColumn* column : block) {
    width += column->width;
  }
  return width;
}

std::string BlockText(const Placement& placed, size_t rows, const TextStyle& style) {
  std::string text;
  for (const TextColumn* label : placed.labels) {
    text += Emphasised(label->heading, style.colour) + '\n';
  }
  text += HeadingText(placed, style.colour);
  text += Rule(WidthOf(placed.grid, placed.indent()) + placed.bar_width) + '\n';
  for (size_t row = 0; row < rows; ++row) {
    text += LabelsText(placed.labels, row) + RowText(placed, row) +
            NotesText(placed.notes, row, style.width);
  }
  return text;
}

size_t SidewaysWidth(const TextColumns& columns, size_t rows, size_t width) {
  const size_t headings = WidestHeading(columns);
  const size_t each = width > headings ? (width - headings) / rows : 0;
  return each >= kSmallestText + kColumnGap ? each - kColumnGap : 0;
}

std::string SidewaysText(const TextColumns& columns, size_t each, const TextStyle& style) {
  const size_t label_width = WidestHeading(columns);
  std::string text;
  for (const TextColumn& column : columns) {
    const std::vector<Lines> cells = SidewaysCells(column, each);
    size_t height = 0;
    for (const Lines& cell : cells) {
      height = std::max(height, cell.size());
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

std::string Emphasised(const std::string& line, bool bold) {
  return bold && !line.empty() ? "\x1b[1m" + line + "\x1b[0m" : line;
}

}  // namespace borescope::internal
