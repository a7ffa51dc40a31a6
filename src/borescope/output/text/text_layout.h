// Lays one table out for people, in at most `width` terminal cells per line. Pure.
//
// Numbers stay whole. What gives way, in this order, until the table fits:
//   1. columns without any value leave it and are named below it
//   2. remarks (long derived text) are wrapped in their column, or move below their row
//   3. long keys (kernel names) lose their middle, headings break at blanks, numbers lose decimals
//   4. keys that would become unreadable, or look alike as they are cut, move to lines of their own
//   5. a table of up to three rows is turned on its side: one line per column
//   6. any other is cut into blocks below each other, which repeat the key columns or, where these
//      do not come first or would look alike, have keys on lines of their own, too
// Keys that would look alike even there take more lines, or are cut elsewhere (text_cuts.h). Where
// there are only long texts, keys stay in columns, and so do remarks that can be read beside each
// other.
#pragma once

#include <string>
#include <string_view>

#include "borescope/output/text/text_bars.h"
#include "borescope/table/table.h"

namespace borescope::internal {

struct TextStyle {
  size_t width = 80;
  bool colour = false;  // bold titles and headings, by escape sequences
};

// `bars` stand behind the rows where there is room; nullptr for none.
std::string LayOutTable(const Table& table, const TextStyle& style, const RowBars* bars = nullptr);

// A heading of its own: one line, or as many as it takes.
std::string TitleLine(std::string_view title, const TextStyle& style);

}  // namespace borescope::internal
