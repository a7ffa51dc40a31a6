// Lays one table out for people, in at most `width` terminal cells per line. Pure.
//
// A wider terminal shows no less of any cell: of a name as much is shown as a whole line of the
// terminal holds, in as many lines of its column as that takes, and numbers lose decimals only
// where nothing else fits. What gives way, in this order, until the table fits:
//   1. columns without any value leave it and are named below it
//   2. remarks (long derived text) are wrapped in their column, or move below their row
//   3. long keys (kernel names) are wrapped in their column, and headings break at blanks
//   4. keys that are the same in all of more than three rows leave it and are said below it
//   5. keys that would take more lines than on lines of their own move there, above their row
//   6. numbers lose decimals
//   7. a table of up to three rows is turned on its side: one line per column
//   8. any other is cut into blocks below each other, which repeat the key columns or, where these
//      do not come first or would be wrapped often, have keys on lines of their own, too
// Names that would look alike as a line of the terminal holds them take more lines. Where there are
// only long texts, keys stay in columns, and so do remarks that can be read beside each other.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/text/text_bars.h"
#include "borescope/output/units/units.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// The columns of a table as text, and how wide each may be: what text_layout.cc arranges. Not
// thread-safe; each table has its own.

inline constexpr size_t kColumnGap = 2;      // blanks between columns
inline constexpr size_t kSmallestText = 16;  // no text column is made narrower
inline constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

using Lines = std::vector<std::string>;

struct TextColumn {
  const Column* source = nullptr;
  const Column* scale = nullptr;  // the column whose values choose the unit
  std::string heading;
  std::string unit;
  Lines cells;
  bool is_text = false;    // may be shortened; aligned left
  bool is_remark = false;  // long derived text: prose, not a name
  size_t cell_width = 0;   // of the widest cell
  // Decided later, by SetHeadings and FitColumns:
  Lines heading_lines;  // the unit is the last one, in all columns or in none
  size_t natural = 0;   // width that shows every cell in one line
  size_t width = 0;

  bool is_key() const { return source->role == Role::kKey; }
};

using TextColumns = std::vector<TextColumn>;

// Cells and headings of all columns of `table`, which must outlive them. Of a tree in preorder,
// whose rows have their level in a key column `depth`, the text column after that one is indented
// by it, and replaces both.
// Of names longer than `width`, that of the terminal, cells have labels: so much of them that fits
// into a line of their own or, where they would look alike, that distinguishes them. How much that
// is does not depend on where they are placed.
TextColumns MakeColumns(const Table& table, size_t width);

// Formats the numbers again.
void UsePrecision(TextColumns& columns, Precision precision);

// Sets heading lines and natural widths. Headings wider than their cells may break at blanks.
void SetHeadings(TextColumns& columns, bool break_headings);

// Width of the columns side by side when no text is wider than `text_limit`. A heading is never
// cut.
size_t TotalWidth(std::span<TextColumn* const> columns, size_t text_limit);

// Sets widths so that the columns fit; long text columns get equal shares. False if that would make
// one narrower than `smallest_text`; the widths are then those of `smallest_text`. kUnlimited asks
// for natural widths.
bool FitColumns(std::span<TextColumn* const> columns, size_t width, size_t smallest_text);

// One cell in lines of the column's width at most. All lines but the first are indented by `hang`,
// and all by the level in a tree.
Lines CellLines(const TextColumn& column, size_t row, size_t hang);

// The width of the widest line.
size_t WidestOf(const Lines& lines);

struct TextStyle {
  size_t width = 80;
  bool colour = false;  // bold titles and headings, by escape sequences
};

// `bars` follow the rows where there is room; nullptr for none.
std::string LayOutTable(const Table& table, const TextStyle& style, const RowBars* bars = nullptr);

// A heading of its own: one line, or as many as it takes.
std::string TitleLine(std::string_view title, const TextStyle& style);

// Writes the columns of a table where text_layout.cc has placed them. Pure functions.

inline constexpr size_t kLabelIndent = 2;  // of what is below a label

using Block = std::vector<TextColumn*>;

// Where the columns of a table go.
struct Placement {
  Block grid;
  Block labels;  // above their row
  Block notes;   // below it
  const RowBars* bars = nullptr;
  size_t bar_width = 0;  // behind the rows of the grid, with the gap before them; 0: none

  size_t indent() const { return labels.empty() ? 0 : kLabelIndent; }
};

size_t WidthOf(const Block& block, size_t indent);

// The grid with its labels and notes; below labels it is indented. REQUIRES: the grid has a column;
// those of grid and labels have their width.
std::string BlockText(const Placement& placed, size_t rows, const TextStyle& style);

// The width of each of `rows` values beside their headings; zero when there is no room for them.
size_t SidewaysWidth(const TextColumns& columns, size_t rows, size_t width);

// Each column becomes a line, each row a column of wrapped text `each` wide.
std::string SidewaysText(const TextColumns& columns, size_t each, const TextStyle& style);

// By escape sequences, if `bold`; nothing stays nothing.
std::string Emphasised(const std::string& line, bool bold);

}  // namespace borescope::internal
