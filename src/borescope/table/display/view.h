// ViewSpec: how a table is best drawn. Analyses only name columns; the page decides how to draw
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/table/table.h"

namespace borescope::internal {

// The names of units and roles as programs read them, in JSON and in Arrow metadata. Pure
// functions; the texts live as long as the program.

// The base unit: "ns", "bytes", "GB/s"; empty for kNone, "row" for kOfRow.
std::string_view UnitName(Unit unit);

// "key", "sum", "min", "max" or "derived".
std::string_view RoleName(Role role);

// The unit or role of that name; nothing if there is none.
std::optional<Unit> FindUnit(std::string_view name);
std::optional<Role> FindRole(std::string_view name);

// How text shows a table where it is not fitted to the terminal: a heading and a line per row, all
// of them, with values as they are.

enum class LineForm : uint8_t {
  kNone,    // fitted
  kSpaced,  // one blank between values
  kFixed,   // columns of given widths, one blank after each: text at the left and cut, numbers at
            // the right and never cut
  kQuoted,  // each value in double quotes, with commas between them
  kBare,    // one blank between values, and no heading
};

struct LineStyle {
  LineForm form = LineForm::kNone;
  std::string table = {};           // which table; others are fitted
  std::vector<size_t> widths = {};  // of kFixed: code points, by column
};

// How long texts of the timeline in a page are: those who write them and those who reckon what they
// take have to agree.

// The longest name or detail, in characters; of longer ones the middle is left out.
inline constexpr size_t kLongestPageText = 120;

// Columns with timestamps rather than durations.

// Whether the cells are timestamps on the clock of the file: `ts_ns`, `begin_ns`, `slot_end_ns`.
inline bool IsOnClock(const Column& column) {
  const std::string_view name = column.name;
  return name == "ts_ns" || name == "begin_ns" || name == "end_ns" || name.ends_with("_begin_ns") ||
         name.ends_with("_end_ns");
}

// Whether they are timestamps on any clock: those, `begin_unix_ns`, `base_ns`.
inline bool IsTimestamp(const Column& column) {
  const std::string_view name = column.name;
  return IsOnClock(column) || name.ends_with("unix_ns") || name.ends_with("base_ns");
}

enum class ViewKind : uint8_t {
  kBars,         // a bar for each row, of the first value
  kStackedBars,  // a bar for each row, of all values: parts of one whole
  kSeries,       // a line for each label, of values over `x`
  kFlame,        // rows in preorder with `depth`: nested frames, as wide as their first value
  kHeat,         // a cell for each label and `x`, with the tone of its row (column_hints.h)
  kRoofline,     // operators by intensity and rate, under the peaks in table `roofs`
  kIntervals,  // a bar for each row, of the first value, with what is known of it: from the second
               // value to the third; and a mark at `x`, which it is held against
  kAside,  // no chart: text leaves the labels out, which are for programs and pages, where it has
           // the same in words or no room
};
// As pages write it: "stacked-bars".
constexpr std::string_view ViewKindName(ViewKind kind) {
  constexpr std::string_view kNames[] = {"bars", "stacked-bars", "series",    "flame",
                                         "heat", "roofline",     "intervals", "aside"};
  return kNames[static_cast<size_t>(kind)];
}

// Columns are given by name; a view whose table or columns do not exist is not drawn.
struct ViewSpec {
  std::string_view table;
  ViewKind kind = ViewKind::kBars;
  std::string_view title;
  std::span<const std::string_view> labels;  // name a bar, a line or a point
  std::span<const std::string_view> values;  // of one unit
  std::string_view x = {};                   // kSeries and kHeat; kIntervals, where there is one
};

}  // namespace borescope::internal
