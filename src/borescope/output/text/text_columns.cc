#include "borescope/output/text/text_columns.h"

#include <algorithm>
#include <map>

#include "borescope/output/names/labels.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kRemarkWidth = 24;  // longer derived text is a remark

// The name without its unit, which stands below it: "exposed_comm_ns" -> "exposed comm".
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

bool IsCut(const TextColumn& column) {
  return column.is_text && !column.is_remark && column.width < column.cell_width;
}

// Blanks before a text say how deep in a tree a cell is: they stay, and cells of one depth are
// distinguished.
void LabelCells(TextColumn& column, size_t width) {
  std::map<size_t, std::vector<size_t>> rows_of;  // by depth
  for (size_t row = 0; row < column.cells.size(); ++row) {
    const std::string& cell = column.cells[row];
    rows_of[std::min(cell.find_first_not_of(' '), cell.size())].push_back(row);
  }
  column.shown = Lines(column.cells.size());
  column.shown_width = column.width;
  column.tells_apart = true;
  for (const auto& [depth, rows] : rows_of) {
    const size_t indent = std::min(depth, width / 2);
    Lines cells;
    for (const size_t row : rows) {
      cells.push_back(column.cells[row].substr(depth));
    }
    const Labels labels = LabelNames(cells, width - indent);
    column.tells_apart = column.tells_apart && labels.tell;
    for (size_t i = 0; i < rows.size(); ++i) {
      column.shown[rows[i]] = std::string(indent, ' ') + labels.texts[i];
    }
  }
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

TextColumns MakeColumns(const Table& table) {
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

void CutNames(TextColumn& column) {
  if (!IsCut(column)) {
    column.tells_apart = true;
  } else if (column.shown_width != column.width) {
    LabelCells(column, column.width);
  }
}

bool IsDistinguishing(TextColumn& column) {
  CutNames(column);
  return column.tells_apart;
}

void CutNamesToLines(TextColumn& column) {
  constexpr size_t kMostCellLines = 3;
  if (IsDistinguishing(column)) {
    return;
  }
  LabelCells(column, kMostCellLines * column.width);
  if (!column.tells_apart) {
    column.shown = column.cells;
  }
}

Lines CellLines(const TextColumn& column, size_t row, size_t hang) {
  const std::string& cell = column.cells[row];
  const bool is_name = column.is_text && !column.is_remark;
  const bool is_labelled = IsCut(column) && column.shown_width == column.width;
  const std::string text = is_labelled ? column.shown[row]
                           : is_name   ? ShortenName(cell, column.width)
                                       : cell;
  return DisplayWidth(text) <= column.width ? Lines{text} : WrapCell(text, column.width, hang);
}

}  // namespace borescope::internal
