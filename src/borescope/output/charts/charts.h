// The charts of pictures: one file and one row in charts.cc for each kind of view. A document
// becomes one picture, whose views are below each other. Pure functions.
#pragma once

#include <span>
#include <string>

#include "borescope/base/result.h"
#include "borescope/output/charts/svg_canvas.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// What one chart is made of. REQUIRES: FindTable (chart_data.h) gives `table` for the view.
struct ChartInput {
  const Table& table;
  const ViewSpec& view;
  std::span<const Table> tables;  // all of the document, for charts that need a second one
};

// Where charts are drawn, and what they say in words.
struct ChartPage {
  SvgCanvas canvas;
  double left = 0;
  double right = 0;
  double y = 0;             // where the next thing goes; charts move it down
  std::string description;  // a sentence for each view

  double width() const { return right - left; }
};

struct PictureSize {
  double width = 0;
  double height = 0;
};
struct Picture {
  std::string svg;
  PictureSize size;  // pixels
};

// All views of the document whose tables are there. kMissingData where there is none, naming what
// can be drawn.
Result<Picture> DrawPicture(const Document& document);

// The kinds. False, and nothing drawn, when no value is above zero.
bool DrawBars(const ChartInput& input, ChartPage& page);  // kStackedBars too
bool DrawSeries(const ChartInput& input, ChartPage& page);
bool DrawFlame(const ChartInput& input, ChartPage& page);
bool DrawHeat(const ChartInput& input, ChartPage& page);
bool DrawRoofline(const ChartInput& input, ChartPage& page);
bool DrawIntervals(const ChartInput& input, ChartPage& page);

// Small print below a chart, in as many lines as it takes.
void DrawNote(std::string_view text, ChartPage& page);

}  // namespace borescope::internal
