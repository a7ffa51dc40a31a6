// Lays one table out for people, in at most `width` terminal cells per line. Pure.
//
// Numbers stay whole. What gives way, in this order, until the table fits:
//   1. remarks (long derived text) are wrapped in their column, or move below their row
//   2. long keys (kernel names) lose their middle, headings break at blanks, numbers lose decimals
//   3. keys that would become unreadable move to lines of their own
//   4. a table of up to three rows is turned on its side: one line per column
//   5. any other is cut into blocks below each other that repeat the key columns
#pragma once

#include <string>
#include <string_view>

#include "borescope/output/text_bars.h"
#include "borescope/table/table.h"

namespace borescope {

struct TextStyle {
  size_t width = 80;
  bool colour = false;  // bold titles and headings, by escape sequences
};

// `bars` stand behind the rows where there is room; nullptr for none.
std::string LayOutTable(const Table& table, const TextStyle& style, const RowBars* bars = nullptr);

// A heading of its own: one line, or as many as it takes.
std::string TitleLine(std::string_view title, const TextStyle& style);

}  // namespace borescope
