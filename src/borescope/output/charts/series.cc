// Lines over time: steps from change to change, as values hold until the next one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/charts.h"
#include "borescope/output/charts/scale.h"

namespace borescope::internal {
namespace {

constexpr double kHeight = 200;
constexpr double kLeft = 64;  // of numbers
constexpr double kTickSize = 11;
constexpr double kAbove = 18;  // of the unit
constexpr double kAxisHeight = 26;
constexpr double kHeadroom = 1.05;
constexpr size_t kValueTicks = 6;
constexpr double kPixelsPerTick = 110;
constexpr double kLineWidth = 1.5;

struct Plot {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  double begin = 0;  // of time
  double span = 1;
  double most = 1;  // of values

  double X(double at) const { return left + (at - begin) / span * (right - left); }
  double Y(double value) const { return bottom - value / most * (bottom - top); }
};

Plot LayOut(const LineChart& chart, const ChartPage& page) {
  const double top = page.y + kAbove;
  const double span = chart.end > chart.begin ? chart.end - chart.begin : 1;
  return {page.left + kLeft,        page.right, top, top + kHeight, chart.begin, span,
          chart.largest * kHeadroom};
}

const TextLook kTick{.size = kTickSize, .tone = Tone::kQuiet};
TextLook TickAt(TextLook::Anchor anchor) {
  TextLook look = kTick;
  look.anchor = anchor;
  return look;
}

void DrawValues(const LineChart& chart, const Plot& plot, SvgCanvas& canvas) {
  const std::vector<double> ticks = chart.whole_numbers ? WholeTicks(chart.largest, kValueTicks)
                                                        : Ticks(chart.largest, kValueTicks);
  const NumberFormat format = TickFormat(chart.unit, ticks);
  for (const double tick : ticks) {
    const double y = plot.Y(tick);
    canvas.Line({plot.left, y}, {plot.right, y}, Tone::kLine);
    canvas.Text({plot.left - 8, y + 4}, FormatValue(tick, format), TickAt(TextLook::Anchor::kEnd));
  }
  canvas.Text({plot.left - 8, plot.top - 6}, UnitText(format), TickAt(TextLook::Anchor::kEnd));
}

// Time counts from the first point, numbers of steps are those that were recorded.
void DrawTimes(const Plot& plot, Unit unit, SvgCanvas& canvas) {
  const auto wanted =
      static_cast<size_t>(std::max(2.0, std::floor((plot.right - plot.left) / kPixelsPerTick)));
  const bool is_time = unit == Unit::kNanoseconds;
  const std::vector<double> ticks =
      is_time ? Ticks(plot.span, wanted) : WholeTicks(plot.span, wanted);
  const NumberFormat format = TickFormat(unit, ticks);
  const double base = plot.bottom + kTickSize + 5;
  constexpr double kBeyond = 16;  // of the last number, where there is no unit
  const double unit_begin = UnitText(format).empty()
                                ? plot.right + kBeyond
                                : plot.right - TextWidth(UnitText(format), kTickSize);
  for (const double tick : ticks) {
    const double x = plot.X(plot.begin + tick);
    const std::string text = FormatValue(is_time ? tick : plot.begin + tick, format);
    canvas.Line({x, plot.bottom}, {x, plot.bottom + 4}, Tone::kQuiet);
    if (x + TextWidth(text, kTickSize) / 2 < unit_begin - 4) {
      canvas.Text({x, base}, text, TickAt(TextLook::Anchor::kMiddle));
    }
  }
  canvas.Text({plot.right, base}, UnitText(format), TickAt(TextLook::Anchor::kEnd));
}

// What a line does within one column of pixels: more cannot be seen.
struct PixelColumn {
  double x = 0;
  double first = 0;
  double low = 0;
  double high = 0;
  double last = 0;
};

std::vector<PixelColumn> ColumnsOf(const ChartLine& line, const Plot& plot) {
  std::vector<PixelColumn> columns;
  for (const auto& [at, value] : line.points) {
    const double x = std::round(plot.X(at) * 2) / 2;
    if (columns.empty() || columns.back().x != x) {
      columns.push_back({x, value, value, value, value});
      continue;
    }
    PixelColumn& column = columns.back();
    column.low = std::min(column.low, value);
    column.high = std::max(column.high, value);
    column.last = value;
  }
  return columns;
}

std::string PathOf(const ChartLine& line, const Plot& plot) {
  std::string path;
  for (const PixelColumn& column : ColumnsOf(line, plot)) {
    path += path.empty() ? fmt::format("M{},{}", Pixels(column.x), Pixels(plot.Y(column.first)))
                         : fmt::format("H{}V{}", Pixels(column.x), Pixels(plot.Y(column.first)));
    if (column.low < column.high) {
      path += fmt::format("V{}V{}V{}", Pixels(plot.Y(column.high)), Pixels(plot.Y(column.low)),
                          Pixels(plot.Y(column.last)));
    }
  }
  return path + fmt::format("H{}", Pixels(plot.right));
}

double LargestOf(const ChartLine& line) {
  double largest = 0;
  for (const auto& point : line.points) {
    largest = std::max(largest, point.second);
  }
  return largest;
}

}  // namespace

bool DrawSeries(const ChartInput& input, ChartPage& page) {
  const LineChart chart = MakeLineChart(input.table, input.view);
  if (chart.lines.empty()) {
    return false;
  }
  std::vector<LegendItem> items;
  std::string told;
  for (const ChartLine& line : chart.lines) {
    const double largest = LargestOf(line);
    const std::string most =
        "up to " + Amount(largest, AmountFormat(chart.unit, largest, chart.whole_numbers));
    items.push_back({line.tone, line.label, most});
    told += fmt::format("{}{} {}", told.empty() ? ": " : "; ", line.label, most);
  }
  page.description += told + ".";
  DrawLegend(items, page);
  const Plot plot = LayOut(chart, page);
  DrawValues(chart, plot, page.canvas);
  DrawTimes(plot, chart.x_unit, page.canvas);
  for (const ChartLine& line : chart.lines) {
    page.canvas.Path(PathOf(line, plot), line.tone, kLineWidth);
  }
  page.y = plot.bottom + kAxisHeight;
  if (chart.more > 0) {
    DrawNote(fmt::format("{} more lines are not drawn.", chart.more), page);
  }
  return true;
}

}  // namespace borescope::internal
