// ViewSpec: how a table is best drawn. Analyses only name columns; the page decides how to draw
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace borescope::internal {

enum class ViewKind : uint8_t {
  kBars,         // a bar for each row, of the first value
  kStackedBars,  // a bar for each row, of all values: parts of one whole
  kSeries,       // a line for each label, of values over `x`
  kFlame,        // rows in preorder with `depth`: nested frames, as wide as their first value
  kHeat,         // a cell for each label and `x`, with the tone of its row (palette.h)
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
