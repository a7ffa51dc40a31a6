// The columns of a table as text, and how wide each may be: what text_layout.cc arranges. Not
// thread-safe; each table has its own.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "borescope/output/units/units.h"
#include "borescope/table/table.h"

namespace borescope::internal {

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
  // Decided later, by SetHeadings, FitColumns and CutNames:
  Lines heading_lines;  // the unit is the last one, in all columns or in none
  size_t natural = 0;   // width that shows everything
  size_t width = 0;
  Lines shown;  // labels of the cells, for columns of `shown_width`
  size_t shown_width = 0;
  bool tells_apart = true;  // whether the labels do so by pieces of the cells

  bool is_key() const { return source->role == Role::kKey; }
};

using TextColumns = std::vector<TextColumn>;

// Cells and headings of all columns of `table`, which must outlive them. Of a tree in preorder,
// whose rows have their level in a key column `depth`, the text column behind that one is indented
// by it, and stands for both.
TextColumns MakeColumns(const Table& table);

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

// Sets what is shown of the names in a column that has its width.
void CutNames(TextColumn& column);

// Whether names of the column that differ do so by pieces of them when they are cut to its width.
bool IsDistinguishing(TextColumn& column);

// The same, in as many lines of the width as that takes: up to three, or all.
void CutNamesToLines(TextColumn& column);

// One cell in lines of the column's width at most: a remark whole, a name as it is shown. All lines
// but the first are indented by `hang`, and all by the level in a tree.
Lines CellLines(const TextColumn& column, size_t row, size_t hang);

// The width of the widest line.
size_t WidestOf(const Lines& lines);

}  // namespace borescope::internal
