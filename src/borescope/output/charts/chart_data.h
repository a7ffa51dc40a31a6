// What a chart shows of a table, by a view: numbers and labels, not yet places. Pictures and
// terminals draw the same. Pure functions; labels are printable text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/output/charts/svg_canvas.h"
#include "borescope/table/display/view.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// The number in a cell; 0 where there is none, or none that is finite.
double NumberAt(const Column* column, size_t row);
// The text in a cell, made printable; empty where there is none.
std::string TextAt(const Column* column, size_t row);

// "total_host_ns" as people read it: "total host".
std::string PartLabel(std::string_view column);

// The table of the view, if it is there with the columns the view needs; nullptr otherwise.
const Table* FindTable(std::span<const Table> tables, const ViewSpec& view);

struct ChartPart {
  std::string label;
  Tone tone = Tone::kCompute;
  double total = 0;  // over all rows, shown or not
};

struct ChartBar {
  size_t row = 0;
  std::string label;
  std::vector<double> lengths;  // of the parts, none negative
  double whole = 0;             // their sum
  std::optional<double> share;  // of what its table calls the whole
  std::optional<Tone> tone;     // kBars: its own, instead of that of its part
};

// Whether the value in a row is the rate of work that takes less than ten microseconds each on
// average: what starting it takes and how finely clocks tick decide such a rate, and not what moves
// the bytes, so that it is not drawn. Of tables without `count` and `total_ns` nothing is.
bool IsTooShort(const Table& table, const Column& value, size_t row);

// The colour of the bar or the cell of a row: by the first column whose palette has one for its
// cell, else that of the value. REQUIRES: FindTable gives `table`, and the view is kBars or kHeat.
Tone RowTone(const Table& table, const ViewSpec& view, size_t row);

// kBars and kStackedBars. Of many rows the longest ones; names by length, all else in its order.
// Labels leave out what is the same in all rows. None at all: nothing is above zero.
struct BarChart {
  Unit unit = Unit::kNone;
  bool whole_numbers = true;
  std::vector<ChartPart> parts;
  std::vector<ChartBar> bars;
  size_t more = 0;       // bars there are beside
  size_t too_short = 0;  // rows whose rate says nothing (IsTooShort)
  double longest = 0;
};
// The labels of its bars.
std::vector<std::string> BarNames(const BarChart& chart);
// REQUIRES: FindTable gives `table`, and the view is one of bars.
BarChart MakeBarChart(const Table& table, const ViewSpec& view);

// kIntervals. Rows in their order: those that decide are the first.
struct ChartInterval {
  std::string label;
  double value = 0;
  std::optional<std::pair<double, double>> range;  // low, high
  std::optional<double> mark;                      // what it is held against
  Tone tone = Tone::kCompute;
};
// Values whose rows have units of their own are parts of their marks; rows without one are left
// out.
struct IntervalChart {
  Unit unit = Unit::kNone;
  std::string mark;  // what marks are; empty: there are none
  std::vector<ChartInterval> rows;
  size_t more = 0;
  double low = 0;   // of all that is drawn, at most 0
  double high = 0;  // at least 0
};
IntervalChart MakeIntervalChart(const Table& table, const ViewSpec& view);

struct ChartLine {
  std::string label;
  Tone tone = Tone::kCompute;
  std::vector<std::pair<double, double>> points;  // x ascending
};

// kSeries. Lines hold their value until the next point.
struct LineChart {
  Unit unit = Unit::kNone;
  bool whole_numbers = true;
  std::vector<ChartLine> lines;  // kMostLines at most
  size_t more = 0;
  Unit x_unit = Unit::kNanoseconds;
  double begin = 0;  // of x
  double end = 0;
  double largest = 0;
};
LineChart MakeLineChart(const Table& table, const ViewSpec& view);

}  // namespace borescope::internal
