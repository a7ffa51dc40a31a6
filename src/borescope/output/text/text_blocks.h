// Writes the columns of a table where text_layout.cc has placed them. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/text/text_bars.h"
#include "borescope/output/text/text_columns.h"
#include "borescope/output/text/text_layout.h"

namespace borescope::internal {

inline constexpr size_t kLabelIndent = 2;  // of what stands below a label

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
// those of grid and labels have their width, and names are cut.
std::string BlockText(const Placement& placed, size_t rows, const TextStyle& style);

// The width of each of `rows` values beside their headings; zero when there is no room for them.
size_t SidewaysWidth(const TextColumns& columns, size_t rows, size_t width);

// Each column becomes a line, each row a column of wrapped text `each` wide.
std::string SidewaysText(const TextColumns& columns, size_t each, const TextStyle& style);

// By escape sequences, if `bold`; nothing stays nothing.
std::string Emphasised(const std::string& line, bool bold);

}  // namespace borescope::internal
