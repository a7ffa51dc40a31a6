#include "borescope/output/text/text_layout.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "borescope/output/text/text_bars.h"
#include "borescope/output/text/text_blocks.h"
#include "borescope/output/text/text_columns.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
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
    {Precision::kCompact, true, true, false, kReadableText},
    {Precision::kFull, true, true, true, kSmallestText},
    {Precision::kCompact, true, true, true, kSmallestText},
};
// How columns are placed in blocks below each other: with keys in each, or else above each row.
constexpr Attempt kBlocks = {Precision::kCompact, true, true, false, kSmallestText};
constexpr Attempt kLabelledBlocks = {Precision::kCompact, true, true, true, kSmallestText};

// Columns that say nothing in any row, but for keys: that these are missing tells what a row is.
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
      attempt.smallest_text > kSmallestText ? placed.notes.end() : std::next(placed.notes.begin());
  placed.grid.assign(placed.notes.begin(), end);
  placed.notes.erase(placed.notes.begin(), end);
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
  FillGrid(attempt, placed);
  return placed;
}

bool AllTellApart(const Block& grid) {
  return std::all_of(grid.begin(), grid.end(),
                     [](TextColumn* column) { return IsDistinguishing(*column); });
}

// Text gives way to numbers only as far as rows can be told apart: else it goes above its row.
bool Fits(const Placement& placed, const Attempt& attempt, size_t width) {
  return FitColumns(placed.grid, width - placed.indent(), attempt.smallest_text) &&
         (attempt.labels_above || AllTellApart(placed.grid));
}

// Bars take what the columns leave, and text gives way a little for them: no more than it does in
// this attempt without them, and not so far that rows look alike.
void MakeRoomForBars(const Attempt& attempt, size_t width, Placement& placed) {
  const size_t room = width - placed.indent();
  const size_t least = kColumnGap + kShortestBar;
  if (WidthOf(placed.grid, 0) + least > room &&
      !(FitColumns(placed.grid, room - least, attempt.smallest_text) &&
        AllTellApart(placed.grid))) {
    static_cast<void>(FitColumns(placed.grid, room, attempt.smallest_text));
    return;
  }
  placed.bar_width = std::min(room - WidthOf(placed.grid, 0), kColumnGap + kLongestBar);
}

// Labels that would look alike take more lines.
std::string Written(const Placement& placed, size_t rows, const TextStyle& style) {
  for (TextColumn* label : placed.labels) {
    label->width = style.width;
    CutNamesToLines(*label);
  }
  return BlockText(placed, rows, style);
}

// Names in the grid, too.
std::string WrittenApart(const Placement& placed, size_t rows, const TextStyle& style) {
  std::for_each(placed.grid.begin(), placed.grid.end(),
                [](TextColumn* column) { CutNames(*column); });
  return Written(placed, rows, style);
}

// The columns that every block repeats: leading keys, as long as any other column fits beside them.
Block RepeatedColumns(const Block& columns, size_t width) {
  Block repeated;
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
    placed.labels.insert(placed.labels.end(), keys, placed.grid.end());
    placed.grid.erase(keys, placed.grid.end());
  }
}

// As many of the columns behind the first `repeated` ones in each block as fit beside these; one
// block where none is behind.
std::vector<Block> CutIntoBlocks(const Block& columns, size_t repeated, size_t width) {
  const Block first(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(repeated));
  std::vector<Block> blocks{first};
  for (size_t i = repeated; i < columns.size(); ++i) {
    Block longer = blocks.back();
    longer.push_back(columns[i]);
    if (blocks.back().size() > repeated && TotalWidth(longer, kSmallestText) > width) {
      longer = first;
      longer.push_back(columns[i]);
      blocks.emplace_back();
    }
    blocks.back() = std::move(longer);
  }
  return blocks;
}

// What is in each of the blocks below each other. What tells the rows apart is in all of them.
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
  static_cast<void>(FitColumns(block.grid, width - block.indent(), kSmallestText));
}

// Of a name at least half is left of the longest: less would have to be looked up elsewhere.
bool IsReadable(const TextColumn& column) {
  return !column.is_text || 2 * column.width >= column.cell_width;
}

// Whether the keys in a block still distinguish rows, for people, too.
bool FitsApart(const Placement& block, size_t width) {
  FitBlock(block, width);
  Block keys;
  std::copy_if(block.grid.begin(), block.grid.end(), std::back_inserter(keys),
               [](const TextColumn* column) { return column->is_key(); });
  return AllTellApart(keys) && std::all_of(keys.begin(), keys.end(), [](const TextColumn* column) {
           return IsReadable(*column);
         });
}

// Blocks below each other, each of all rows.
std::string SplitText(TextColumns& columns, size_t rows, const TextStyle& style) {
  UsePrecision(columns, kBlocks.precision);
  SetHeadings(columns, kBlocks.break_headings);
  std::vector<Placement> blocks = PlaceBlocks(Place(columns, kBlocks), style.width);
  const bool apart = std::all_of(blocks.begin(), blocks.end(), [&](const Placement& block) {
    return FitsApart(block, style.width);
  });
  if (!apart) {
    blocks = PlaceBlocks(Place(columns, kLabelledBlocks), style.width);
  }
  std::string text;
  for (const Placement& block : blocks) {
    FitBlock(block, style.width);
    text += text.empty() ? "" : "\n";
    text += WrittenApart(block, rows, style);
  }
  return text;
}

// The table as in the first of these attempts that fits; empty where none does.
std::string FittedText(std::span<const Attempt> attempts, TextColumns& columns, size_t rows,
                       const TextStyle& style, const RowBars* bars) {
  Precision precision = Precision::kFull;
  for (const Attempt& attempt : attempts) {
    if (attempt.precision != precision) {
      precision = attempt.precision;
      UsePrecision(columns, precision);
    }
    SetHeadings(columns, attempt.break_headings);
    Placement placed = Place(columns, attempt);
    if (Fits(placed, attempt, style.width)) {
      if (bars != nullptr) {
        placed.bars = bars;
        MakeRoomForBars(attempt, style.width, placed);
      }
      return WrittenApart(placed, rows, style);
    }
  }
  return {};
}

// What fits in no attempt.
std::string UnfittedText(TextColumns& columns, size_t rows, const TextStyle& style) {
  const size_t sideways = SidewaysWidth(columns, rows, style.width);
  if (rows <= kMostSidewaysRows && sideways > 0) {
    UsePrecision(columns, Precision::kFull);
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
  TextColumns columns = MakeColumns(table);
  const std::span<const Attempt> attempts(kAttempts);
  std::string text = FittedText(attempts.first(1), columns, table.rows(), style, bars);
  if (!text.empty()) {
    return title + text;
  }
  const std::string left_out = TakeOutEmpty(columns, style);
  text = FittedText(attempts, columns, table.rows(), style, bars);
  if (text.empty()) {
    text = UnfittedText(columns, table.rows(), style);
  }
  return title + text + left_out;
}

}  // namespace borescope::internal
