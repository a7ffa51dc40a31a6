// Bars, stacked bars and sparklines on a terminal: eighths of cells, and the colours of
// charts/svg_canvas.h as escape sequences of 256 colours. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "borescope/output/charts/svg_canvas.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// A bar for each row of a table.
struct RowBars {
  std::string heading;         // what they show
  std::vector<double> shares;  // of the longest: 0 to 1
  std::vector<Tone> tones;
};
// REQUIRES: FindTable (charts/chart_data.h) gives `table`, and the view is kBars. Empty where no
// value is above zero.
RowBars MakeRowBars(const Table& table, const ViewSpec& view);

// At most `width` cells. What is above zero has an eighth of a cell at least.
std::string TextBar(double share, size_t width, Tone tone);

struct TextPart {
  double length = 0;
  Tone tone = Tone::kCompute;
};
// The parts one behind the other; `longest` would fill `width` cells. Where parts meet inside a
// cell, it has the colours of both.
std::string TextStack(std::span<const TextPart> parts, double longest, size_t width);

// The chart of a kStackedBars or kSeries view, with its title and legend, in lines of at most
// `width` cells; empty where no value is above zero. REQUIRES: FindTable gives `table`; width
// >= 40.
std::string ChartBelow(const Table& table, const ViewSpec& view, size_t width);

}  // namespace borescope::internal
