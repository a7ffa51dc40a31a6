// Bars: one for each row, of one number or of the parts of a whole.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/charts.h"
#include "borescope/output/charts/scale.h"

namespace borescope::internal {

namespace {

constexpr double kPitch = 24;
constexpr double kBarHeight = 16;
constexpr double kTextSize = 12.5;
constexpr double kTickSize = 11;
constexpr double kWidestLabel = 380;
constexpr double kGap = 14;
constexpr double kShareWidth = 56;
constexpr double kPixelsPerTick = 66;
constexpr double kAxisHeight = 22;
constexpr size_t kMostTold = 12;  // bars in the description

// What all bars of a chart have in common.
struct BarLayout {
  bool has_shares = false;
  NumberFormat format;
  double label_width = 0;
  double track_begin = 0;
  double track_end = 0;
  double value_end = 0;
  double pixels = 0;  // for each unit of length
};

BarLayout LayOut(const BarChart& chart, const ChartPage& page) {
  BarLayout layout;
  layout.format = AmountFormat(chart.unit, chart.longest, chart.whole_numbers);
  double labels = 0;
  double values = 0;
  for (const ChartBar& bar : chart.bars) {
    labels = std::max(labels, TextWidth(bar.label, kTextSize));
    values = std::max(values, TextWidth(Amount(bar.whole, layout.format), kTextSize));
    layout.has_shares = layout.has_shares || bar.share.has_value();
  }
  layout.value_end = page.right - (layout.has_shares ? kShareWidth : 0);
  layout.label_width = std::min(labels, kWidestLabel);
  layout.track_begin = page.left + layout.label_width + kGap;
  layout.track_end = layout.value_end - values - kGap;
  layout.pixels = (layout.track_end - layout.track_begin) / chart.longest;
  return layout;
}

// Lines behind the bars and the numbers below them.
void DrawAxis(const BarChart& chart, const BarLayout& layout, ChartPage& page) {
  const double height = kPitch * static_cast<double>(chart.bars.size());
  const double track = layout.track_end - layout.track_begin;
  const size_t wanted = std::max<size_t>(2, static_cast<size_t>(track / kPixelsPerTick));
  const std::vector<double> ticks =
      chart.whole_numbers ? WholeTicks(chart.longest, wanted) : Ticks(chart.longest, wanted);
  const NumberFormat format = TickFormat(chart.unit, ticks);
  const double base = page.y + height + kTickSize + 4;
  for (const double tick : ticks) {
    const double x = layout.track_begin + tick * layout.pixels;
    page.canvas.Line({x, page.y}, {x, page.y + height}, Tone::kLine);
    page.canvas.Text(
        {x, base}, FormatValue(tick, format),
        {.size = kTickSize, .tone = Tone::kQuiet, .anchor = TextLook::Anchor::kMiddle});
  }
  page.canvas.Text({layout.value_end, base}, UnitText(format),
                   {.size = kTickSize, .tone = Tone::kQuiet, .anchor = TextLook::Anchor::kEnd});
}

std::string TipOf(const BarChart& chart, const ChartBar& bar, size_t part,
                  const NumberFormat& format) {
  const double length = bar.lengths[part];
  if (bar.lengths.size() == 1) {
    return fmt::format("{}: {}", bar.label, Amount(length, format));
  }
  return fmt::format("{}, {}: {}, {}", bar.label, chart.parts[part].label, Amount(length, format),
                     ShareText(length, bar.whole));
}

// Neighbours are kept apart by a pixel where they have one to spare.
void DrawParts(const BarChart& chart, const ChartBar& bar, const BarLayout& layout, double top,
               SvgCanvas& canvas) {
  constexpr double kSpare = 4;
  constexpr double kLeast = 0.5;
  const std::vector<Stretch> parts = PlaceParts(bar.lengths, layout.track_begin, layout.pixels);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (bar.lengths[i] <= 0) {
      continue;
    }
    const double width =
        parts[i].length > kSpare && i + 1 < parts.size() ? parts[i].length - 1 : parts[i].length;
    canvas.Rect({parts[i].begin, top, std::max(width, kLeast), kBarHeight},
                bar.tone.value_or(chart.parts[i].tone), TipOf(chart, bar, i, layout.format));
  }
}

void DrawBar(const BarChart& chart, const ChartBar& bar, const std::string& label,
             const BarLayout& layout, ChartPage& page) {
  const double top = page.y + (kPitch - kBarHeight) / 2;
  const double base = top + kTextSize;
  const TextLook value{.size = kTextSize, .anchor = TextLook::Anchor::kEnd};
  page.canvas.Text({page.left, base}, label, {.size = kTextSize});
  DrawParts(chart, bar, layout, top, page.canvas);
  page.canvas.Text({layout.value_end, base}, Amount(bar.whole, layout.format), value);
  if (bar.share.has_value()) {
    TextLook share = value;
    share.tone = Tone::kQuiet;
    page.canvas.Text({page.right, base}, ShareText(*bar.share, 1), share);
  }
  page.y += kPitch;
}

void DrawParts(const BarChart& chart, ChartPage& page) {
  double whole = 0;
  for (const ChartPart& part : chart.parts) {
    whole += part.total;
  }
  const NumberFormat format = AmountFormat(chart.unit, whole, chart.whole_numbers);
  std::vector<LegendItem> items;
  items.reserve(chart.parts.size());
  for (const ChartPart& part : chart.parts) {
    items.push_back({part.tone, part.label,
                     Amount(part.total, format) + " \xC2\xB7 " + ShareText(part.total, whole)});
  }
  DrawLegend(items, page);
}

std::string Describe(const BarChart& chart, const NumberFormat& format) {
  std::string text = ": ";
  for (size_t i = 0; i < std::min(chart.bars.size(), kMostTold); ++i) {
    const ChartBar& bar = chart.bars[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : "; ", bar.label, Amount(bar.whole, format));
    for (size_t part = 0; chart.parts.size() > 1 && part < chart.parts.size(); ++part) {
      text += fmt::format("{}{} {}", part == 0 ? " (" : ", ", chart.parts[part].label,
                          ShareText(bar.lengths[part], bar.whole));
    }
    text += chart.parts.size() > 1 ? ")" : "";
  }
  return text + ".";
}

void DrawTooShort(const BarChart& chart, ChartPage& page) {
  if (chart.too_short > 0) {
    const std::string note = fmt::format(
        "{} not drawn: of work below 10 \xC2\xB5s each, whose rate is that of starting it.",
        chart.too_short == 1 ? "1 row is"
                             : GroupDigits(static_cast<int64_t>(chart.too_short)) + " rows are");
    DrawNote(note, page);
    page.description += " " + note;
  }
}

}  // namespace

bool DrawBars(const ChartInput& input, ChartPage& page) {
  const BarChart chart = MakeBarChart(input.table, input.view);
  if (chart.bars.empty()) {
    DrawTooShort(chart, page);
    return chart.too_short > 0;
  }
  if (input.view.kind == ViewKind::kStackedBars) {
    DrawParts(chart, page);
  }
  const BarLayout layout = LayOut(chart, page);
  DrawAxis(chart, layout, page);
  const std::vector<std::string> labels = FitTexts(BarNames(chart), layout.label_width, kTextSize);
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    DrawBar(chart, chart.bars[i], labels[i], layout, page);
  }
  page.y += kAxisHeight;
  page.description += Describe(chart, layout.format);
  if (chart.more > 0) {
    DrawNote(fmt::format("{} more are not drawn.", GroupDigits(static_cast<int64_t>(chart.more))),
             page);
  }
  DrawTooShort(chart, page);
  return true;
}

// Intervals: a bar for each row from zero to its value, a line over what is known of it, and a mark
// at what it is held against.

namespace {

constexpr double kRowPitch = 24;
constexpr double kValueHeight = 14;
constexpr double kRangeCap = 7;   // of the ends of an interval
constexpr double kMarkReach = 9;  // of a mark, up and down
constexpr double kLabelSize = 12.5;
constexpr double kAxisSize = 11;
constexpr double kMostLabelWidth = 340;
constexpr double kSpace = 14;
constexpr double kBelow = 22;
constexpr double kTickPitch = 66;
constexpr int kFewestTicks = 2;
constexpr double kMostTicks = 100;
constexpr size_t kMostInWords = 12;

struct IntervalLayout {
  NumberFormat format;
  double label_width = 0;
  double zero = 0;    // x of nothing
  double pixels = 0;  // for each unit
  double begin = 0;
  double end = 0;

  double X(double value) const { return std::clamp(zero + value * pixels, begin, end); }
};

std::string RangeText(const ChartInterval& row, const NumberFormat& format) {
  return row.range ? fmt::format("{} to {}", FormatValue(row.range->first, format),
                                 Amount(row.range->second, format))
                   : std::string();
}

std::string ValueText(const ChartInterval& row, const NumberFormat& format) {
  const std::string range = RangeText(row, format);
  return range.empty() ? Amount(row.value, format)
                       : fmt::format("{} ({})", FormatValue(row.value, format), range);
}

IntervalLayout LayOut(const IntervalChart& chart, const ChartPage& page) {
  IntervalLayout layout;
  layout.format = AmountFormat(chart.unit, std::max(chart.high, -chart.low), false);
  double labels = 0;
  double values = 0;
  for (const ChartInterval& row : chart.rows) {
    labels = std::max(labels, TextWidth(row.label, kLabelSize));
    values = std::max(values, TextWidth(ValueText(row, layout.format), kLabelSize));
  }
  layout.label_width = std::min(labels, kMostLabelWidth);
  layout.begin = page.left + layout.label_width + kSpace;
  layout.end = std::max(page.right - values - kSpace, layout.begin + 1);
  layout.pixels = (layout.end - layout.begin) / (chart.high - chart.low);
  layout.zero = layout.begin - chart.low * layout.pixels;
  return layout;
}

// How many fit on so many pixels, which numbers out of range make infinite or no number.
size_t TickCount(double length) {
  const double fit = length / kTickPitch;
  return fit > kFewestTicks ? static_cast<size_t>(std::min(fit, kMostTicks)) : size_t{kFewestTicks};
}

// On both sides of zero.
std::vector<double> TicksOf(const IntervalChart& chart, const IntervalLayout& layout) {
  const double largest = std::max(chart.high, -chart.low);
  std::vector<double> ticks;
  for (const double tick : Ticks(largest, TickCount(largest * layout.pixels))) {
    if (tick <= chart.high) {
      ticks.push_back(tick);
    }
    if (tick != 0 && -tick >= chart.low) {
      ticks.push_back(-tick);
    }
  }
  std::sort(ticks.begin(), ticks.end());
  return ticks;
}

void DrawScale(const IntervalChart& chart, const IntervalLayout& layout, ChartPage& page) {
  const double height = kRowPitch * static_cast<double>(chart.rows.size());
  const std::vector<double> ticks = TicksOf(chart, layout);
  std::vector<double> sizes;
  sizes.reserve(ticks.size());
  for (const double tick : ticks) {
    sizes.push_back(std::abs(tick));
  }
  std::sort(sizes.begin(), sizes.end());
  const NumberFormat format = TickFormat(chart.unit, sizes);
  const double base = page.y + height + kAxisSize + 4;
  for (const double tick : ticks) {
    const double x = layout.X(tick);
    page.canvas.Line({x, page.y}, {x, page.y + height}, tick == 0 ? Tone::kQuiet : Tone::kLine);
    page.canvas.Text(
        {x, base}, FormatValue(tick, format),
        {.size = kAxisSize, .tone = Tone::kQuiet, .anchor = TextLook::Anchor::kMiddle});
  }
  page.canvas.Text({page.right, base}, UnitText(format),
                   {.size = kAxisSize, .tone = Tone::kQuiet, .anchor = TextLook::Anchor::kEnd});
}

void DrawRange(const std::pair<double, double>& range, double middle, const IntervalLayout& layout,
               SvgCanvas& canvas) {
  const double low = layout.X(range.first);
  const double high = layout.X(range.second);
  canvas.Line({low, middle}, {high, middle}, Tone::kInk, 1.5);
  for (const double x : {low, high}) {
    canvas.Line({x, middle - kRangeCap / 2}, {x, middle + kRangeCap / 2}, Tone::kInk, 1.5);
  }
}

void DrawRow(const ChartInterval& row, const IntervalLayout& layout, ChartPage& page) {
  constexpr double kLeastWidth = 0.5;
  const double middle = page.y + kRowPitch / 2;
  const double base = middle + kLabelSize * 0.36;
  const double zero = layout.X(0);
  const double at = layout.X(row.value);
  page.canvas.Text({page.left, base}, FitText(row.label, layout.label_width, kLabelSize),
                   {.size = kLabelSize});
  const std::string value = ValueText(row, layout.format);
  page.canvas.Rect({std::min(zero, at), middle - kValueHeight / 2,
                    std::max(std::abs(at - zero), kLeastWidth), kValueHeight},
                   row.tone, fmt::format("{}: {}", row.label, value));
  if (row.mark) {
    const double x = layout.X(*row.mark);
    page.canvas.Line({x, middle - kMarkReach}, {x, middle + kMarkReach}, Tone::kSync, 2);
  }
  if (row.range) {
    DrawRange(*row.range, middle, layout, page.canvas);
  }
  page.canvas.Text({page.right, base}, value,
                   {.size = kLabelSize, .anchor = TextLook::Anchor::kEnd});
  page.y += kRowPitch;
}

std::string InWords(const IntervalChart& chart, const NumberFormat& format) {
  std::string text;
  for (size_t i = 0; i < std::min(chart.rows.size(), kMostInWords); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? ": " : "; ", chart.rows[i].label,
                        ValueText(chart.rows[i], format));
  }
  return text + ".";
}

}  // namespace

bool DrawIntervals(const ChartInput& input, ChartPage& page) {
  const IntervalChart chart = MakeIntervalChart(input.table, input.view);
  if (chart.rows.empty() || chart.high <= chart.low) {
    return false;
  }
  const IntervalLayout layout = LayOut(chart, page);
  const bool has_marks = std::any_of(chart.rows.begin(), chart.rows.end(),
                                     [](const ChartInterval& row) { return row.mark.has_value(); });
  if (has_marks) {
    const LegendItem marks[] = {{Tone::kSync, chart.mark, "the upright line"}};
    DrawLegend(marks, page);
  }
  DrawScale(chart, layout, page);
  for (const ChartInterval& row : chart.rows) {
    DrawRow(row, layout, page);
  }
  page.y += kBelow;
  page.description += InWords(chart, layout.format);
  if (chart.more > 0) {
    DrawNote(fmt::format("{} more are not drawn.", GroupDigits(static_cast<int64_t>(chart.more))),
             page);
  }
  return true;
}

}  // namespace borescope::internal
