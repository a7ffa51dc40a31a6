#include "borescope/output/text/text_layout.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "borescope/output/names/labels.h"
#include "borescope/output/text/text_bars.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

constexpr size_t kNoteIndent = 4;
constexpr size_t kRowHang = 2;  // of the further lines of a row

std::string Padded(std::string_view text, const TextColumn& column) {
  const std::string blanks(column.width - std::min(column.width, DisplayWidth(text)), ' ');
  return column.is_text ? std::string(text) + blanks : blanks + std::string(text);
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

// Headings end at the rule: those with fewer lines start lower. A line of units is left out where
// no column of the block has one. The heading of bars is on the line of names.
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

// The keys of one row on lines of their own; what says the same as the line above it is not written
// again.
std::string LabelsText(const Block& labels, size_t row) {
  std::string text;
  std::string last;
  for (const TextColumn* label : labels) {
    std::string lines;
    for (const std::string& line : CellLines(*label, row, kNoteIndent)) {
      lines += line + '\n';
    }
    text += lines == last ? "" : lines;
    last = std::move(lines);
  }
  return text;
}

// What precedes a remark.
std::string NoteLabel(const TextColumn& note) {
  return note.heading.empty() ? "" : note.heading + ": ";
}

// The remarks of one row, below it.
std::string NotesText(const Block& notes, size_t row, size_t width) {
  std::string text;
  for (const TextColumn* note : notes) {
    const std::string& remark = note->cells[row];
    if (remark.empty() || note->source->IsMissing(row)) {
      continue;
    }
    for (const std::string& line : WrapText(NoteLabel(*note) + remark, width - kNoteIndent)) {
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

// One row of the grid; wrapped cells make it several lines high. Bars follow the first.
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
  std::vector<Lines> cells;
  for (const std::string& cell : column.cells) {
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

namespace {

constexpr size_t kRemarkWidth = 24;  // longer derived text is a remark

// The name without its unit, which is below it: "exposed_comm_ns" -> "exposed comm".
std::string HeadingOf(const Column& column) {
  constexpr std::string_view kUnitSuffixes[] = {kOffsetSuffix, "_ns", "_us", "_gbps"};
  if (column.name == "ns" && column.unit == Unit::kNanoseconds) {
    return "time";  // of a ledger: the unit shown may be another
  }
  if (column.name == "gbps" && column.unit == Unit::kGigabytesPerSecond) {
    return "rate";
  }
  std::string name = column.name;
  if (column.unit != Unit::kNone || name.ends_with("unix_ns")) {
    for (const std::string_view suffix : kUnitSuffixes) {
      if (name.size() > suffix.size() && name.ends_with(suffix)) {
        name.resize(name.size() - suffix.size());
        break;
      }
    }
  }
  std::replace(name.begin(), name.end(), '_', ' ');
  return ToPrintable(name);
}

// Of two columns of one name the one with a unit is said to be of time, of bytes, ...; calls are
// counted, not measured.
void TellHeadingsApart(TextColumns& columns) {
  for (TextColumn& column : columns) {
    const bool is_twin = std::any_of(columns.begin(), columns.end(), [&](const TextColumn& other) {
      return &other != &column && other.heading == column.heading;
    });
    const bool is_time = column.source->unit == Unit::kNanoseconds;
    if (is_time && (is_twin || column.heading == "calls")) {
      column.heading += " time";
    }
  }
}

bool IsSumOfTime(const Column& column) {
  return column.unit == Unit::kNanoseconds && column.role == Role::kSum;
}

// Sums of time beside each other are parts of a whole, or twins: they are shown in the unit of the
// largest, and so are columns of zeros. What is less than a thousandth of it would vanish.
const Column* ScaleOfSums(const Table& table, const Column& column) {
  constexpr double kVanishing = 1000;
  const Column* first = &column;
  while (first != table.columns.data() && IsSumOfTime(*(first - 1))) {
    --first;
  }
  const Column* largest = first;
  const Column* const end = table.columns.data() + table.columns.size();
  for (const Column* one = first; one != end && IsSumOfTime(*one); ++one) {
    largest = LargestMagnitude(*one) > LargestMagnitude(*largest) ? one : largest;
  }
  const double own = LargestMagnitude(column);
  return own == 0 || own * kVanishing >= LargestMagnitude(*largest) ? largest : &column;
}

// Columns of a spread share the unit of the middle one: a maximum in ms next to a mean in us would
// look smaller.
const Column* ScaleOf(const Table& table, const Column& column) {
  constexpr std::string_view kSpread[] = {"mean_ns", "min_ns", "max_ns", "stddev_ns", "median_ns"};
  if (std::find(std::begin(kSpread), std::end(kSpread), column.name) == std::end(kSpread)) {
    return IsSumOfTime(column) ? ScaleOfSums(table, column) : &column;
  }
  const Column* mean = table.Find("mean_ns");
  const Column* middle = mean != nullptr ? mean : table.Find("median_ns");
  return middle != nullptr ? middle : &column;
}

void FormatCells(TextColumn& column, Precision precision) {
  NumberFormat format = ChooseFormat(*column.scale, precision);
  if (column.scale != column.source && LargestMagnitude(*column.source) == 0) {
    format.decimals = 0;
  }
  column.unit = format.unit;
  column.cells.clear();
  for (size_t row = 0; row < column.source->size(); ++row) {
    column.cells.push_back(FormatCell(*column.source, format, row));
  }
  column.cell_width = WidestOf(column.cells);
}

// A heading cannot be made narrower than this.
size_t LongestWord(std::string_view heading) {
  size_t longest = 1;
  for (size_t begin = 0; begin < heading.size();) {
    const size_t end = std::min(heading.find(' ', begin), heading.size());
    longest = std::max(longest, DisplayWidth(heading.substr(begin, end - begin)));
    begin = end + 1;
  }
  return longest;
}

// The column that says how deep the rows of a tree lie; nullptr where they are none.
const Column* DepthOf(const Table& table) {
  const Column* depth = table.Find("depth");
  const bool is_depth = depth != nullptr && depth->role == Role::kKey &&
                        std::holds_alternative<IntValues>(depth->values);
  return is_depth && table.columns.size() > 1 ? depth : nullptr;
}

// Cells of a tree, one blank for each level; the level of what lies too deep for that is a number.
void IndentCells(const Column& depths, TextColumn& column) {
  constexpr int64_t kDeepestIndent = 24;
  const auto& depth = std::get<IntValues>(depths.values);
  for (size_t row = 0; row < depth.size(); ++row) {
    const auto blanks = static_cast<size_t>(std::clamp<int64_t>(depth[row], 0, kDeepestIndent));
    const bool is_deep = depth[row] > kDeepestIndent;
    column.cells[row] = std::string(blanks, ' ') +
                        (is_deep ? "[" + std::to_string(depth[row]) + "] " : "") +
                        column.cells[row];
  }
  column.cell_width = WidestOf(column.cells);
}

// Labels of names at most `width` wide, and whether pieces of them distinguish them.
struct CellLabels {
  Lines texts;
  bool tell = true;
};

// Blanks before a text say how deep in a tree a cell is: they stay, and cells of one depth are
// distinguished.
CellLabels LabelCells(const Lines& cells, size_t width) {
  std::map<size_t, std::vector<size_t>> rows_of;  // by depth
  for (size_t row = 0; row < cells.size(); ++row) {
    rows_of[std::min(cells[row].find_first_not_of(' '), cells[row].size())].push_back(row);
  }
  CellLabels labels{Lines(cells.size())};
  for (const auto& [depth, rows] : rows_of) {
    const size_t indent = std::min(depth, width / 2);
    Lines names;
    for (const size_t row : rows) {
      names.push_back(cells[row].substr(depth));
    }
    const Labels of_depth = LabelNames(names, width - indent);
    labels.tell = labels.tell && of_depth.tell;
    for (size_t i = 0; i < rows.size(); ++i) {
      labels.texts[rows[i]] = std::string(indent, ' ') + of_depth.texts[i];
    }
  }
  return labels;
}

// Labels at most `width` wide, or, where these would look alike, as wide as it takes to distinguish
// the names apart; whole names if nothing less does.
Lines TellingLabels(const TextColumn& column, size_t width) {
  CellLabels labels = LabelCells(column.cells, width);
  size_t alike = width;
  size_t apart = width;
  while (!labels.tell) {
    alike = apart;
    apart = 2 * apart;
    if (apart >= column.cell_width) {
      return column.cells;
    }
    labels = LabelCells(column.cells, apart);
  }
  // The least of these widths, so that a wider terminal, which may do without, shows no less.
  while (alike + 1 < apart) {
    const size_t middle = alike + (apart - alike) / 2;
    CellLabels shorter = LabelCells(column.cells, middle);
    (shorter.tell ? apart : alike) = middle;
    labels = shorter.tell ? std::move(shorter) : std::move(labels);
  }
  return std::move(labels.texts);
}

// Remarks that are names of events; others are sentences.
bool IsOfNames(const TextColumn& column) {
  constexpr std::string_view kNames[] = {"host",       "before", "after", "from_name",
                                         "renamed_to", "kernel", "trace"};
  return std::find(std::begin(kNames), std::end(kNames), column.source->name) != std::end(kNames);
}

// What is shown of the names of a column on a terminal of `width`, wherever the column goes: as
// much as a line of their own holds. Remarks stay whole but for names, whose line is below a row.
void ShortenCells(TextColumn& column, size_t width) {
  const size_t taken = kNoteIndent + DisplayWidth(NoteLabel(column));
  const size_t room =
      column.is_remark ? std::max(width - std::min(width, taken), kSmallestText) : width;
  if (!column.is_text || column.cell_width <= room || (column.is_remark && !IsOfNames(column))) {
    return;
  }
  column.cells =
      column.is_remark ? LabelNames(column.cells, room).texts : TellingLabels(column, room);
  column.cell_width = WidestOf(column.cells);
}

// Wrapped at blanks, but for those in front, which say how deep in a tree it is.
Lines WrapCell(std::string_view text, size_t width, size_t hang) {
  const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  const size_t indent = std::min(blanks, width / 2);
  Lines lines = WrapText(text.substr(blanks), width - indent, hang);
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i].insert(0, indent + (i == 0 ? 0 : hang), ' ');
  }
  return lines;
}

}  // namespace

size_t WidestOf(const Lines& lines) {
  size_t width = 0;
  for (const std::string& line : lines) {
    width = std::max(width, DisplayWidth(line));
  }
  return width;
}

TextColumns MakeColumns(const Table& table, size_t width) {
  TextColumns columns;
  const Column* depth = DepthOf(table);
  for (const Column& source : table.columns) {
    if (&source == depth) {
      continue;
    }
    TextColumn& column = columns.emplace_back();
    column.source = &source;
    column.scale = ScaleOf(table, source);
    column.heading = HeadingOf(source);
    column.is_text = std::holds_alternative<StringValues>(source.values);
    FormatCells(column, Precision::kFull);
    if (depth != nullptr && &source == depth + 1) {
      IndentCells(*depth, column);
    }
    column.is_remark = column.is_text && !column.is_key() && column.cell_width > kRemarkWidth;
  }
  TellHeadingsApart(columns);
  for (TextColumn& column : columns) {
    ShortenCells(column, width);
  }
  return columns;
}

void UsePrecision(TextColumns& columns, Precision precision) {
  for (TextColumn& column : columns) {
    if (!column.is_text) {
      FormatCells(column, precision);
    }
  }
}

void SetHeadings(TextColumns& columns, bool break_headings) {
  const bool units = std::any_of(columns.begin(), columns.end(),
                                 [](const TextColumn& column) { return !column.unit.empty(); });
  for (TextColumn& column : columns) {
    column.heading_lines = {column.heading};
    if (break_headings) {
      const size_t room = std::max(LongestWord(column.heading), column.cell_width);
      column.heading_lines = WrapText(column.heading, room);
    }
    if (units) {
      column.heading_lines.push_back(column.unit);
    }
    column.natural = std::max(column.cell_width, WidestOf(column.heading_lines));
  }
}

size_t TotalWidth(std::span<TextColumn* const> columns, size_t text_limit) {
  size_t total = columns.empty() ? 0 : kColumnGap * (columns.size() - 1);
  for (const TextColumn* column : columns) {
    const size_t least = std::max(text_limit, WidestOf(column->heading_lines));
    total += column->is_text ? std::min(column->natural, least) : column->natural;
  }
  return total;
}

bool FitColumns(std::span<TextColumn* const> columns, size_t width, size_t smallest_text) {
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

Lines CellLines(const TextColumn& column, size_t row, size_t hang) {
  const std::string& text = column.cells[row];
  return DisplayWidth(text) <= column.width ? Lines{text} : WrapCell(text, column.width, hang);
}

namespace {

constexpr size_t kReadableText = 32;  // a kernel name shorter than this could be any kernel
constexpr size_t kLabelText = 20;  // keys longer than this move to lines of their own, if need be
constexpr size_t kMostSidewaysRows = 3;
constexpr size_t kShortestBar = 8;
constexpr size_t kLongestBar = 40;

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
    {Precision::kFull, true, true, true, kLabelText},
    {Precision::kCompact, true, true, false, kReadableText},
    {Precision::kCompact, true, true, true, kLabelText},
};
constexpr size_t kAttemptsWithLabelsBeside = 4;
// How columns are placed in blocks below each other: with keys in each, or else above each row.
constexpr Attempt kBlocks = {Precision::kCompact, true, true, false, kLabelText};
constexpr Attempt kLabelledBlocks = {Precision::kCompact, true, true, true, kLabelText};

// Columns that say nothing in any row, but for keys: that these are missing says what a row is.
bool SaysNothing(const TextColumn& column) {
  const std::vector<char>& missing = column.source->missing;
  return !column.is_key() && !column.heading.empty() && !missing.empty() &&
         std::all_of(missing.begin(), missing.end(),
                     [](char is_missing) { return is_missing != 0; });
}

// Takes them out of `columns` and gives the line that names them; empty where there are none, or
// nothing else.
std::string TakeOutEmpty(TextColumns& columns, const TextStyle& style) {
  const auto empty =
      std::stable_partition(columns.begin(), columns.end(),
                            [](const TextColumn& column) { return !SaysNothing(column); });
  if (empty == columns.begin() || empty == columns.end()) {
    return {};
  }
  std::string names;
  for (auto column = empty; column != columns.end(); ++column) {
    names += (names.empty() ? "Without values: " : ", ") + column->heading;
  }
  columns.erase(empty, columns.end());
  std::string text;
  for (const std::string& line : WrapText(names, style.width)) {
    text += line + '\n';
  }
  return text;
}

// Keys that are the same in all rows: derived columns stay where they are.
bool SaysTheSame(const TextColumn& column) {
  return column.is_key() && !column.heading.empty() &&
         std::all_of(column.cells.begin(), column.cells.end(),
                     [&](const std::string& cell) { return cell == column.cells.front(); });
}

// Takes them out of `columns`, unless nothing else says what a row is, and gives the line that says
// them.
std::string TakeOutSame(TextColumns& columns, const TextStyle& style) {
  const bool tells_rows = std::any_of(columns.begin(), columns.end(), [](const TextColumn& column) {
    return (column.is_key() || column.is_text) && !SaysTheSame(column);
  });
  const auto same =
      !tells_rows
          ? columns.end()
          : std::stable_partition(columns.begin(), columns.end(),
                                  [](const TextColumn& column) { return !SaysTheSame(column); });
  if (same == columns.end()) {
    return {};
  }
  std::string words;
  for (auto column = same; column != columns.end(); ++column) {
    words += (words.empty() ? "In all rows: " : ", ") + column->heading + " " +
             column->cells.front() + (column->unit.empty() ? "" : " " + column->unit);
  }
  columns.erase(same, columns.end());
  std::string text;
  for (const std::string& line : WrapText(words, style.width)) {
    text += line + '\n';
  }
  return text;
}

// A table of long texts alone has them in its grid: keys, or remarks as far as they can be read
// beside each other.
void FillGrid(const Attempt& attempt, Placement& placed) {
  if (!placed.grid.empty()) {
    return;
  }
  if (placed.notes.empty()) {
    placed.grid.swap(placed.labels);
    return;
  }
  const auto end =
      attempt.smallest_text > kLabelText ? placed.notes.end() : std::next(placed.notes.begin());
  placed.grid.assign(placed.notes.begin(), end);
  placed.notes.erase(placed.notes.begin(), end);
}

// Whether a column is one of the long keys that may move above its row.
bool IsLabel(const TextColumn& column) {
  return column.is_text && !column.is_remark && column.cell_width > kLabelText;
}

Placement Place(TextColumns& columns, const Attempt& attempt) {
  Placement placed;
  for (TextColumn& column : columns) {
    if (attempt.remarks_below && column.is_remark) {
      placed.notes.push_back(&column);
    } else if (attempt.labels_above && IsLabel(column)) {
      placed.labels.push_back(&column);
    } else {
      placed.grid.push_back(&column);
    }
  }
  FillGrid(attempt, placed);
  return placed;
}

// How many lines the rows take by their names in the grid.
size_t LinesBeside(const Block& grid, size_t rows) {
  Block wrapped;
  std::copy_if(grid.begin(), grid.end(), std::back_inserter(wrapped), [](const TextColumn* column) {
    return !column->is_remark && column->cell_width > column->width;
  });
  size_t lines = rows;
  for (size_t row = 0; row < rows && !wrapped.empty(); ++row) {
    size_t height = 1;
    for (const TextColumn* column : wrapped) {
      height = std::max(height, CellLines(*column, row, kRowHang).size());
    }
    lines += height - 1;
  }
  return lines;
}

// The same with the long keys above their rows.
size_t LinesAbove(const Block& grid, size_t rows, size_t width) {
  size_t lines = rows;
  for (const TextColumn* column : grid) {
    for (size_t row = 0; row < rows && IsLabel(*column); ++row) {
      const size_t cells = std::max<size_t>(DisplayWidth(column->cells[row]), 1);
      lines += (cells + width - 1) / width;
    }
  }
  return lines;
}

// Text gives way to numbers as long as its lines beside them are no more than those above them
// would be. Where there are only texts, they have nothing to go above.
bool Fits(const Placement& placed, const Attempt& attempt, size_t rows, size_t width) {
  if (!FitColumns(placed.grid, width - placed.indent(), attempt.smallest_text)) {
    return false;
  }
  const auto is_label = [](const TextColumn* column) { return IsLabel(*column); };
  return attempt.labels_above || std::all_of(placed.grid.begin(), placed.grid.end(), is_label) ||
         std::none_of(placed.grid.begin(), placed.grid.end(), is_label) ||
         LinesBeside(placed.grid, rows) <= LinesAbove(placed.grid, rows, width);
}

// Bars take what the columns leave, and text gives way a little for them: no more than it does in
// this attempt without them, and not for more lines.
void MakeRoomForBars(const Attempt& attempt, size_t rows, size_t width, Placement& placed) {
  const size_t room = width - placed.indent();
  const size_t least = kColumnGap + kShortestBar;
  if (WidthOf(placed.grid, 0) + least > room) {
    const size_t lines = LinesBeside(placed.grid, rows);
    if (!FitColumns(placed.grid, room - least, attempt.smallest_text) ||
        LinesBeside(placed.grid, rows) > lines) {
      static_cast<void>(FitColumns(placed.grid, room, attempt.smallest_text));
      return;
    }
  }
  placed.bar_width = std::min(room - WidthOf(placed.grid, 0), kColumnGap + kLongestBar);
}

std::string Written(const Placement& placed, size_t rows, const TextStyle& style) {
  for (TextColumn* label : placed.labels) {
    label->width = style.width;
  }
  return BlockText(placed, rows, style);
}

// The columns that every block repeats: leading keys, as long as any other column fits beside them.
Block RepeatedColumns(const Block& columns, size_t width) {
  Block repeated;
  size_t widest = 0;
  for (TextColumn* column : columns) {
    widest = std::max(widest, TotalWidth(std::span(&column, 1), kLabelText));
  }
  for (TextColumn* column : columns) {
    repeated.push_back(column);
    const bool fits = TotalWidth(repeated, kLabelText) + kColumnGap + widest <= width;
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
    placed.labels.insert(placed.labels.end(), keys, placed.grid.end());
    placed.grid.erase(keys, placed.grid.end());
  }
}

// As many of the columns after the first `repeated` ones in each block as fit beside these; one
// block where there are no others.
std::vector<Block> CutIntoBlocks(const Block& columns, size_t repeated, size_t width) {
  const Block first(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(repeated));
  std::vector<Block> blocks{first};
  for (size_t i = repeated; i < columns.size(); ++i) {
    Block longer = blocks.back();
    longer.push_back(columns[i]);
    if (blocks.back().size() > repeated && TotalWidth(longer, kLabelText) > width) {
      longer = first;
      longer.push_back(columns[i]);
      blocks.emplace_back();
    }
    blocks.back() = std::move(longer);
  }
  return blocks;
}

// What is in each of the blocks below each other. All of them have what distinguishes the rows.
std::vector<Placement> PlaceBlocks(Placement placed, size_t width) {
  const size_t repeated = RepeatedColumns(placed.grid, width - placed.indent()).size();
  if (repeated == 0) {
    MoveKeysAbove(placed);
  }
  std::vector<Placement> blocks;
  for (Block& block : CutIntoBlocks(placed.grid, repeated, width - placed.indent())) {
    blocks.push_back({std::move(block), placed.labels, {}});
  }
  blocks.back().notes = std::move(placed.notes);
  return blocks;
}

void FitBlock(const Placement& block, size_t width) {
  static_cast<void>(FitColumns(block.grid, width - block.indent(), kLabelText));
}

// Whether the names in a block take no more lines than above their rows.
bool AreBestBeside(const Placement& block, size_t rows, size_t width) {
  FitBlock(block, width);
  return LinesBeside(block.grid, rows) <= LinesAbove(block.grid, rows, width);
}

// Blocks below each other, each of all rows.
std::string SplitText(TextColumns& columns, size_t rows, const TextStyle& style) {
  UsePrecision(columns, kBlocks.precision);
  SetHeadings(columns, kBlocks.break_headings);
  std::vector<Placement> blocks = PlaceBlocks(Place(columns, kBlocks), style.width);
  const bool beside = std::all_of(blocks.begin(), blocks.end(), [&](const Placement& block) {
    return AreBestBeside(block, rows, style.width);
  });
  if (!beside) {
    blocks = PlaceBlocks(Place(columns, kLabelledBlocks), style.width);
  }
  std::string text;
  for (const Placement& block : blocks) {
    FitBlock(block, style.width);
    text += text.empty() ? "" : "\n";
    text += Written(block, rows, style);
  }
  return text;
}

// The table as in the first of these attempts that fits; empty where none does.
std::string FittedText(std::span<const Attempt> attempts, TextColumns& columns, size_t rows,
                       const TextStyle& style, const RowBars* bars) {
  std::optional<Precision> precision;
  for (const Attempt& attempt : attempts) {
    if (attempt.precision != precision) {
      precision = attempt.precision;
      UsePrecision(columns, *precision);
    }
    SetHeadings(columns, attempt.break_headings);
    Placement placed = Place(columns, attempt);
    if (Fits(placed, attempt, rows, style.width)) {
      if (bars != nullptr) {
        placed.bars = bars;
        MakeRoomForBars(attempt, rows, style.width, placed);
      }
      return Written(placed, rows, style);
    }
  }
  return {};
}

// What fits in no attempt, with numbers as the last of these shows them.
std::string UnfittedText(TextColumns& columns, size_t rows, const TextStyle& style) {
  const size_t sideways = SidewaysWidth(columns, rows, style.width);
  if (rows <= kMostSidewaysRows && sideways > 0) {
    return SidewaysText(columns, sideways, style);
  }
  return SplitText(columns, rows, style);
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
  const std::string title = TitleLine(table.title.empty() ? table.name : table.title, style);
  if (table.rows() == 0) {
    return title + "(none)\n";
  }
  TextColumns columns = MakeColumns(table, style.width);
  const std::span<const Attempt> attempts(kAttempts);
  std::string text = FittedText(attempts.first(1), columns, table.rows(), style, bars);
  if (!text.empty()) {
    return title + text;
  }
  std::string left_out = TakeOutEmpty(columns, style);
  text = FittedText(attempts.first(kAttemptsWithLabelsBeside), columns, table.rows(), style, bars);
  if (text.empty()) {
    left_out += table.rows() > kMostSidewaysRows ? TakeOutSame(columns, style) : "";
    text = FittedText(attempts, columns, table.rows(), style, bars);
  }
  if (text.empty()) {
    text = UnfittedText(columns, table.rows(), style);
  }
  return title + text + left_out;
}

}  // namespace borescope::internal
