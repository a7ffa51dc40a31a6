// Texts and swatches of a chart that flow from line to line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/charts/charts.h"

namespace borescope::internal {

struct LegendItem {
  Tone tone = Tone::kCompute;
  std::string label;
  std::string detail;  // in small print behind it; may be empty
};

// Moves page.y below the legend. Labels wider than half the page are shortened.
void DrawLegend(std::span<const LegendItem> items, ChartPage& page);

// Text broken at blanks into lines of at most `width` pixels; a longer word is cut.
std::vector<std::string> WrapPixels(std::string_view text, double width, double size);

}  // namespace borescope::internal
