// Heat maps: a row for each label, a column for each place, and a colour for how each cell relates
// to what is usual.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/charts.h"
#include "borescope/output/charts/scale.h"
#include "borescope/table/display/column_hints.h"

namespace borescope::internal {
namespace {

constexpr double kTextSize = 11;
constexpr double kLabelWidth = 90;
constexpr double kTallest = 14;  // of a cell
constexpr double kMostHeight = 520;
constexpr double kWidest = 40;  // of a cell
constexpr double kAxisHeight = 22;
constexpr double kPixelsPerLabel = 13;
constexpr double kPixelsPerTick = 60;

// Rows may come in any order; those without a place are not drawn.
struct HeatGrid {
  std::vector<std::string> labels;        // of the lines, in the order of their first rows
  std::map<std::string, size_t> line_of;  // by label
  std::map<int64_t, size_t> column_of;    // by x
  double left = 0;
  double width = 0;   // of a cell
  double height = 0;  // of a cell
};

// Where a row is along x; nothing where it has no place.
std::optional<int64_t> PlaceOf(const Column& x, size_t row) {
  const auto* const places = std::get_if<IntValues>(&x.values);
  return places == nullptr || x.IsMissing(row) ? std::nullopt : std::optional((*places)[row]);
}

void AddRow(const Column& label, const Column& x, size_t row, HeatGrid& grid) {
  if (const std::optional<int64_t> place = PlaceOf(x, row); place.has_value()) {
    const std::string text = TextAt(&label, row);
    if (grid.line_of.emplace(text, grid.labels.size()).second) {
      grid.labels.push_back(text);
    }
    grid.column_of.emplace(*place, 0);
  }
}

HeatGrid LayOut(const ChartInput& input, const Column& label, const Column& x,
                const ChartPage& page) {
  HeatGrid grid;
  for (size_t row = 0; row < input.table.rows(); ++row) {
    AddRow(label, x, row, grid);
  }
  size_t columns = 0;
  for (auto& [at, column] : grid.column_of) {
    column = columns++;
  }
  const auto lines = static_cast<double>(std::max<size_t>(grid.labels.size(), 1));
  grid.left = page.left + kLabelWidth;
  grid.width = std::min(
      kWidest, (page.right - grid.left) / static_cast<double>(std::max<size_t>(columns, 1)));
  grid.height = std::min(kTallest, kMostHeight / lines);
  return grid;
}

std::string TipOf(const Table& table, size_t row) {
  std::string tip;
  for (const Column& column : table.columns) {
    if (column.role != Role::kKey) {
      const std::string unit(column.unit == Unit::kNanoseconds ? " ns" : "");
      tip += fmt::format("{}{} {}{}", tip.empty() ? "" : ", ", PartLabel(column.name),
                         TextAt(&column, row), unit);
    }
  }
  return tip;
}

// Cells as usual say nothing where the pointer rests: there are thousands.
void DrawCells(const ChartInput& input, const Column& label, const Column& x, const HeatGrid& grid,
               ChartPage& page) {
  for (size_t row = 0; row < input.table.rows(); ++row) {
    const std::optional<int64_t> place = PlaceOf(x, row);
    if (!place.has_value()) {
      continue;
    }
    const auto line = static_cast<double>(grid.line_of.at(TextAt(&label, row)));
    const auto column = static_cast<double>(grid.column_of.at(*place));
    const Tone tone = RowTone(input.table, input.view, row);
    page.canvas.Rect(
        {grid.left + column * grid.width, page.y + line * grid.height, grid.width, grid.height},
        tone, tone == Tone::kSame ? std::string() : TipOf(input.table, row));
  }
}

void DrawLabels(const HeatGrid& grid, ChartPage& page) {
  const std::vector<std::string> labels = FitTexts(grid.labels, kLabelWidth - 8, kTextSize);
  double free_from = page.y - kPixelsPerLabel;
  for (size_t line = 0; line < grid.labels.size(); ++line) {
    const double base = page.y + (static_cast<double>(line) + 0.5) * grid.height + kTextSize * 0.35;
    if (base >= free_from + kPixelsPerLabel) {
      page.canvas.Text({grid.left - 8, base}, labels[line],
                       {.size = kTextSize, .tone = Tone::kQuiet, .anchor = TextLook::Anchor::kEnd});
      free_from = base;
    }
  }
}

void DrawPlaces(const HeatGrid& grid, std::string_view name, ChartPage& page) {
  const double base = page.y + kTextSize + 4;
  double free_from = grid.left;
  for (const auto& [at, column] : grid.column_of) {
    const double left = grid.left + static_cast<double>(column) * grid.width;
    if (left >= free_from) {
      page.canvas.Text({left, base},
                       fmt::format("{}{}", column == 0 ? std::string(name) + " " : "", at),
                       {.size = kTextSize, .tone = Tone::kQuiet});
      free_from = left + kPixelsPerTick;
    }
  }
  page.y += kAxisHeight;
}

// The levels that there are.
void DrawLevels(const ChartInput& input, ChartPage& page) {
  std::map<Tone, size_t> counts;
  for (size_t row = 0; row < input.table.rows(); ++row) {
    ++counts[RowTone(input.table, input.view, row)];
  }
  std::vector<LegendItem> items;
  for (const LevelRow& level : Levels()) {
    if (const auto found = counts.find(level.tone); found != counts.end()) {
      items.push_back({level.tone, std::string(level.cell), std::to_string(found->second)});
      page.description += fmt::format("{}{}: {} cell{}", items.size() == 1 ? ": " : "; ",
                                      level.cell, found->second, found->second == 1 ? "" : "s");
    }
  }
  page.description += ".";
  DrawLegend(items, page);
}

}  // namespace

bool DrawHeat(const ChartInput& input, ChartPage& page) {
  const Column* const label = input.table.Find(input.view.labels.front());
  const Column* const x = input.table.Find(input.view.x);
  if (input.table.rows() == 0 || label == nullptr || x == nullptr) {
    return false;
  }
  DrawLevels(input, page);
  const HeatGrid grid = LayOut(input, *label, *x, page);
  DrawCells(input, *label, *x, grid, page);
  DrawLabels(grid, page);
  page.y += static_cast<double>(grid.labels.size()) * grid.height;
  DrawPlaces(grid, PartLabel(input.view.x), page);
  return true;
}

}  // namespace borescope::internal
