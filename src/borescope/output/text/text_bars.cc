#include "borescope/output/text/text_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/scale.h"
#include "borescope/output/names/labels.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr size_t kEighths = 8;  // of a cell
constexpr std::string_view kPlain = "\x1b[0m";
constexpr size_t kWidestLabel = 34;
constexpr size_t kGap = 2;

// So many eighths of a cell, from the left.
std::string_view LeftBlock(size_t eighths) {
  constexpr std::string_view kBlocks[] = {" ",      "\u258F", "\u258E", "\u258D", "\u258C",
                                          "\u258B", "\u258A", "\u2589", "\u2588"};
  return kBlocks[eighths];
}

// So many eighths of a cell, from below.
std::string_view LowerBlock(size_t eighths) {
  constexpr std::string_view kBlocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                          "\u2585", "\u2586", "\u2587", "\u2588"};
  return kBlocks[eighths];
}

std::string Foreground(Tone tone) { return fmt::format("\x1b[38;5;{}m", GetToneRow(tone).cube); }
std::string Background(Tone tone) { return fmt::format("\x1b[48;5;{}m", GetToneRow(tone).cube); }

std::string Faint(std::string_view text) { return fmt::format("\x1b[2m{}{}", text, kPlain); }

// As tables of text write them: with ordinary blanks, and "us".
std::string WithUnit(double value, const NumberFormat& format) {
  const std::string number = FormatValue(value, format);
  return format.unit.empty() ? number : fmt::format("{} {}", number, format.unit);
}

std::string Percent(double part, double whole) {
  const NumberFormat format = ChooseFormat(Unit::kShare, {}, Precision::kCompact);
  return whole > 0 ? FormatValue(part / whole, format) + " %" : "\xE2\x80\x93";
}

std::string Padded(std::string padded, size_t width) {
  padded.append(width - std::min(width, DisplayWidth(padded)), ' ');
  return padded;
}

std::string PaddedLeft(const std::string& text, size_t width) {
  return std::string(width - std::min(width, DisplayWidth(text)), ' ') + text;
}

// Where the parts end, in eighths of cells.
std::vector<size_t> EndsOf(std::span<const TextPart> parts, double longest, size_t width) {
  const double scale = static_cast<double>(width * kEighths) / longest;
  std::vector<size_t> ends;
  double sum = 0;
  for (const TextPart& part : parts) {
    sum += std::max(0.0, part.length);
    const double end = std::min(sum * scale, static_cast<double>(width * kEighths));
    ends.push_back(static_cast<size_t>(std::llround(end)));
  }
  return ends;
}

// The content of one cell: a part at the left, and perhaps another one to its right.
struct Cell {
  size_t left = 0;  // index of the part
  size_t left_eighths = kEighths;
  std::optional<size_t> right;  // the largest of those behind it
};

Cell CellAt(size_t cell, std::span<const size_t> ends) {
  const size_t begin = cell * kEighths;
  const size_t end = begin + kEighths;
  const auto first = std::upper_bound(ends.begin(), ends.end(), begin);
  Cell found{static_cast<size_t>(first - ends.begin()), std::min(*first, end) - begin, {}};
  size_t largest = 0;
  size_t from = begin + found.left_eighths;
  for (size_t i = found.left + 1; i < ends.size() && from < end; ++i) {
    const size_t covers = std::min(ends[i], end) - from;
    if (covers > largest) {
      largest = covers;
      found.right = i;
    }
    from += covers;
  }
  return found;
}

size_t WidestLabel(const BarChart& chart) {
  size_t width = 0;
  for (const ChartBar& bar : chart.bars) {
    width = std::max(width, DisplayWidth(bar.label));
  }
  return std::min(width, kWidestLabel);
}

// Colours and what they mean, in as many lines as it takes.
std::string LegendLines(const BarChart& chart, size_t width) {
  double whole = 0;
  for (const ChartPart& part : chart.parts) {
    whole += part.total;
  }
  std::string text;
  size_t used = 0;
  for (const ChartPart& part : chart.parts) {
    const std::string label = ShortenMiddle(part.label, kWidestLabel);
    const std::string share = Percent(part.total, whole);
    const size_t cells = 2 + DisplayWidth(label) + 1 + DisplayWidth(share);
    const bool breaks = used > 0 && used + kGap + 1 + cells > width;
    text += breaks ? "\n" : used > 0 ? std::string(kGap + 1, ' ') : "";
    used = (breaks || used == 0 ? 0 : used + kGap + 1) + cells;
    text += fmt::format("{}\u2588{} {} {}", Foreground(part.tone), kPlain, label, Faint(share));
  }
  return text + "\n";
}

std::string StacksText(const Table& table, const ViewSpec& view, size_t width) {
  const BarChart chart = MakeBarChart(table, view);
  if (chart.bars.empty()) {
    return {};
  }
  const NumberFormat format = AmountFormat(chart.unit, chart.longest, chart.whole_numbers);
  size_t values = 0;
  for (const ChartBar& bar : chart.bars) {
    values = std::max(values, DisplayWidth(WithUnit(bar.whole, format)));
  }
  const size_t labels = WidestLabel(chart);
  const size_t cells = width - std::min(width - 1, labels + values + 2 * kGap);
  std::string text = LegendLines(chart, width);
  const std::vector<std::string> names = LabelNames(BarNames(chart), labels).texts;
  for (size_t row = 0; row < chart.bars.size(); ++row) {
    const ChartBar& bar = chart.bars[row];
    std::vector<TextPart> parts;
    parts.reserve(chart.parts.size());
    for (size_t i = 0; i < chart.parts.size(); ++i) {
      parts.push_back({bar.lengths[i], chart.parts[i].tone});
    }
    text += fmt::format("{}{:{}}{}{:{}}{}\n", Padded(names[row], labels), "", kGap,
                        TextStack(parts, chart.longest, cells), "", kGap,
                        PaddedLeft(WithUnit(bar.whole, format), values));
  }
  return text + (chart.more > 0 ? Faint(fmt::format("{} more", chart.more)) + "\n" : "");
}

// The largest value in each of `width` parts of the time; a value holds until the next one.
std::vector<double> Peaks(const ChartLine& line, const LineChart& chart, size_t width) {
  std::vector<double> peaks(width, 0);
  const double span = chart.end > chart.begin ? chart.end - chart.begin : 1;
  const auto cell_of = [&](double at) {
    const double part = (at - chart.begin) / span * static_cast<double>(width);
    return std::min(width - 1, static_cast<size_t>(std::max(0.0, part)));
  };
  for (size_t i = 0; i < line.points.size(); ++i) {
    const auto& [at, value] = line.points[i];
    const double until = i + 1 < line.points.size() ? line.points[i + 1].first : chart.end;
    for (size_t cell = cell_of(at); cell <= cell_of(until); ++cell) {
      peaks[cell] = std::max(peaks[cell], value);
    }
  }
  return peaks;
}

// What is above zero is seen.
std::string Sparkline(std::span<const double> peaks, double largest) {
  std::string text;
  for (const double peak : peaks) {
    const double level = std::ceil(peak / largest * static_cast<double>(kEighths));
    text += LowerBlock(std::min(kEighths, static_cast<size_t>(std::max(0.0, level))));
  }
  return text;
}

// "up to 12 MB", in the unit that suits the line.
std::string MostOf(const ChartLine& line, const LineChart& chart) {
  double largest = 0;
  for (const auto& point : line.points) {
    largest = std::max(largest, point.second);
  }
  return "up to " + WithUnit(largest, AmountFormat(chart.unit, largest, chart.whole_numbers));
}

std::string SeriesText(const Table& table, const ViewSpec& view, size_t width) {
  const LineChart chart = MakeLineChart(table, view);
  if (chart.lines.empty()) {
    return {};
  }
  size_t labels = 0;
  size_t values = 0;
  std::vector<std::string> names;
  for (const ChartLine& line : chart.lines) {
    names.push_back(line.label);
    labels = std::max(labels, std::min(DisplayWidth(line.label), kWidestLabel));
    values = std::max(values, DisplayWidth(MostOf(line, chart)));
  }
  const size_t cells = width - std::min(width - 1, labels + values + 2 * kGap);
  const double span = chart.end - chart.begin;
  const NumberFormat time = AmountFormat(Unit::kNanoseconds, span, true);
  std::string text = Faint("over " + WithUnit(span, time)) + "\n";
  names = LabelNames(names, labels).texts;
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    text += fmt::format("{}{:{}}{}{}{}{:{}}{}\n", Padded(names[i], labels), "", kGap,
                        Foreground(line.tone), Sparkline(Peaks(line, chart, cells), chart.largest),
                        kPlain, "", kGap, PaddedLeft(MostOf(line, chart), values));
  }
  return text + (chart.more > 0 ? Faint(fmt::format("{} more", chart.more)) + "\n" : "");
}

}  // namespace

RowBars MakeRowBars(const Table& table, const ViewSpec& view) {
  const Column* const value = table.Find(view.values.front());
  RowBars bars{PartLabel(view.values.front()), {}, {}};
  double largest = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    const bool says_nothing = value != nullptr && IsTooShort(table, *value, row);
    bars.shares.push_back(says_nothing ? 0 : std::max(0.0, NumberAt(value, row)));
    bars.tones.push_back(RowTone(table, view, row));
    largest = std::max(largest, bars.shares.back());
  }
  if (largest <= 0) {
    return {};
  }
  std::for_each(bars.shares.begin(), bars.shares.end(), [&](double& share) { share /= largest; });
  return bars;
}

std::string TextBar(double share, size_t width, Tone tone) {
  const double eighths = std::round(share * static_cast<double>(width * kEighths));
  const auto length = static_cast<size_t>(
      std::clamp(eighths, share > 0 ? 1.0 : 0.0, static_cast<double>(width * kEighths)));
  if (length == 0) {
    return {};
  }
  std::string bar = Foreground(tone);
  for (size_t cell = 0; cell < length / kEighths; ++cell) {
    bar += LeftBlock(kEighths);
  }
  bar += length % kEighths == 0 ? "" : LeftBlock(length % kEighths);
  return bar + std::string(kPlain);
}

std::string TextStack(std::span<const TextPart> parts, double longest, size_t width) {
  const std::vector<size_t> ends = EndsOf(parts, longest, width);
  const size_t length = ends.empty() ? 0 : ends.back();
  std::string text;
  for (size_t cell = 0; cell < width; ++cell) {
    if (cell * kEighths >= length) {
      text += ' ';
      continue;
    }
    const Cell found = CellAt(cell, ends);
    text += Foreground(parts[found.left].tone);
    text += found.right.has_value() ? Background(parts[*found.right].tone) : "";
    text += LeftBlock(found.left_eighths);
    text += kPlain;
  }
  return text;
}

std::string ChartBelow(const Table& table, const ViewSpec& view, size_t width) {
  const std::string chart = view.kind == ViewKind::kSeries ? SeriesText(table, view, width)
                                                           : StacksText(table, view, width);
  return chart.empty() ? ""
                       : fmt::format("\n\x1b[1m{}{}\n{}", ToPrintable(view.title), kPlain, chart);
}

}  // namespace borescope::internal
