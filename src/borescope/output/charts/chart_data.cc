#include "borescope/output/charts/chart_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "borescope/output/units/units.h"
#include "borescope/output/utf8.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostBars = 12;     // of names
constexpr size_t kMostOrdered = 24;  // of what has an order of its own
constexpr size_t kMostStacks = 40;   // of the ranks and steps of a run

using Columns = std::vector<const Column*>;

Columns Present(const Table& table, std::span<const std::string_view> names) {
  Columns columns;
  for (const std::string_view name : names) {
    if (const Column* column = table.Find(name); column != nullptr) {
      columns.push_back(column);
    }
  }
  return columns;
}

bool IsText(const Column& column) { return std::holds_alternative<StringValues>(column.values); }

// Parts of a label are on either side of a dot.
void AppendPart(std::string_view part, std::string& label) {
  label += label.empty() || part.empty() ? "" : " \xC2\xB7 ";
  label += part;
}

// What names a row: the cells of the label columns there are.
std::string RowLabel(const Columns& columns, size_t row) {
  std::string label;
  for (const Column* column : columns) {
    std::string part = TextAt(column, row);
    if (part.empty()) {
      continue;
    }
    if (!IsText(*column)) {
      part.insert(0, PartLabel(column->name) + " ");
    }
    AppendPart(part, label);
  }
  return label;
}

// A row that nothing names, such as what no rank caused, has a dash.
std::string LabelOrDash(const Columns& columns, size_t row) {
  std::string label = RowLabel(columns, row);
  return label.empty() ? "\xE2\x80\x93" : label;
}

// By the palette of its column.
std::optional<Tone> CellTone(const Column& column, size_t row) {
  const auto* const texts = std::get_if<StringValues>(&column.values);
  return texts == nullptr || column.IsMissing(row)
             ? std::nullopt
             : ToneOfCell(column.hints.palette, (*texts)[row]);
}

Tone ToneOf(const Column& column) { return column.hints.tone.value_or(Tone::kCompute); }

// Columns that say the same of every row name none of them, where others do.
Columns NamingColumns(const Table& table, const ViewSpec& view) {
  const Columns all = Present(table, view.labels);
  Columns naming = all;
  std::erase_if(naming, [&](const Column* column) {
    size_t row = 1;
    while (row < table.rows() && CompareCells(*column, 0, row) == 0) {
      ++row;
    }
    return row >= table.rows();
  });
  return naming.empty() ? all : naming;
}

// Ranks, lengths and causes have an order of their own; names have that of their bars.
bool AreNames(const Table& table, const ViewSpec& view) {
  const Column* const label = table.Find(view.labels.back());
  return label != nullptr && label->hints.names;
}

bool IsWhole(double value) { return value == std::floor(value); }

// Negative lengths cannot be drawn.
ChartBar MakeBar(const Columns& parts, size_t row) {
  ChartBar bar;
  bar.row = row;
  for (const Column* part : parts) {
    bar.lengths.push_back(std::max(0.0, NumberAt(part, row)));
  }
  bar.whole = std::min(std::accumulate(bar.lengths.begin(), bar.lengths.end(), 0.0),
                       std::numeric_limits<double>::max());
  return bar;
}

// The longest first.
void SortBars(BarChart& chart) {
  std::stable_sort(chart.bars.begin(), chart.bars.end(),
                   [](const ChartBar& a, const ChartBar& b) { return a.whole > b.whole; });
}

void KeepFirst(size_t most, BarChart& chart) {
  if (chart.bars.size() > most) {
    chart.more = chart.bars.size() - most;
    chart.bars.resize(most);
  }
}

// Whether bars are the ranks or steps of a run.
bool IsRun(const Table& table, const ViewSpec& view) {
  const bool by_rank =
      std::find(view.labels.begin(), view.labels.end(), "rank") != view.labels.end();
  return by_rank && view.kind == ViewKind::kStackedBars && table.Find("rank") != nullptr;
}

// Names by length; all else in its order, or, of many, the longest. A run is always in its order.
void PickBars(const Table& table, const ViewSpec& view, BarChart& chart) {
  const bool is_run = IsRun(table, view);
  const bool names = AreNames(table, view);
  const size_t most = is_run ? kMostStacks : names ? kMostBars : kMostOrdered;
  if (names || (!is_run && chart.bars.size() > most)) {
    SortBars(chart);
  }
  KeepFirst(most, chart);
}

void AddBars(const Table& table, const Columns& parts, BarChart& chart) {
  for (size_t row = 0; row < table.rows(); ++row) {
    if (std::any_of(parts.begin(), parts.end(), [&](const Column* part) {
          return NumberAt(part, row) > 0 && IsTooShort(table, *part, row);
        })) {
      ++chart.too_short;
      continue;
    }
    ChartBar bar = MakeBar(parts, row);
    for (size_t i = 0; i < parts.size(); ++i) {
      chart.parts[i].total += bar.lengths[i];
      chart.whole_numbers = chart.whole_numbers && IsWhole(bar.lengths[i]);
    }
    if (bar.whole > 0) {
      chart.bars.push_back(std::move(bar));
    }
  }
}

// Labels, colours and shares of the bars that are left.
void NameBars(const Table& table, const ViewSpec& view, BarChart& chart) {
  const Columns labels = NamingColumns(table, view);
  const Column* const shares = table.Find("share");
  for (ChartBar& bar : chart.bars) {
    bar.label = LabelOrDash(labels, bar.row);
    if (view.kind == ViewKind::kBars) {
      bar.tone = RowTone(table, view, bar.row);
    }
    if (shares != nullptr && !shares->IsMissing(bar.row)) {
      bar.share = NumberAt(shares, bar.row);
    }
    chart.longest = std::max(chart.longest, bar.whole);
  }
}

// Parts of which no row has anything are not drawn.
Columns DrawnParts(const Table& table, const ViewSpec& view) {
  Columns parts = Present(table, view.values);
  if (view.kind == ViewKind::kBars) {
    parts.resize(1);
    return parts;
  }
  std::erase_if(parts, [&](const Column* part) {
    for (size_t row = 0; row < table.rows(); ++row) {
      if (NumberAt(part, row) > 0) {
        return false;
      }
    }
    return true;
  });
  return parts;
}

// Whether what is drawn of a row is its first value.
bool IsOfFirstValue(ViewKind kind) {
  return kind == ViewKind::kBars || kind == ViewKind::kIntervals;
}

constexpr double kMostDrawn = 1e300;  // differences of which are still numbers

// What is left of a row where its first value is missing, or is held against nothing though its
// unit is its own.
std::optional<ChartInterval> MakeInterval(const Table& table, const ViewSpec& view, size_t row) {
  const Column& value = *table.Find(view.values.front());
  const Column* const mark = view.x.empty() ? nullptr : table.Find(view.x);
  const bool has_mark = mark != nullptr && !mark->IsMissing(row);
  const double whole = value.unit == Unit::kOfRow && has_mark ? std::abs(NumberAt(mark, row)) : 1.0;
  if (value.IsMissing(row) || whole == 0 || (value.unit == Unit::kOfRow && !has_mark)) {
    return std::nullopt;
  }
  const auto at = [&](const Column* column) {
    return std::clamp(NumberAt(column, row) / whole, -kMostDrawn, kMostDrawn);
  };
  ChartInterval interval;
  interval.value = at(&value);
  if (view.values.size() == 3) {
    const Column* const low = table.Find(view.values[1]);
    const Column* const high = table.Find(view.values[2]);
    const bool has_range =
        low != nullptr && high != nullptr && !low->IsMissing(row) && !high->IsMissing(row);
    interval.range = has_range ? std::optional(std::pair(at(low), at(high))) : std::nullopt;
  }
  interval.mark = has_mark ? std::optional(at(mark)) : std::nullopt;
  interval.tone = RowTone(table, view, row);
  return interval;
}

void Measure(const ChartInterval& row, IntervalChart& chart) {
  const auto include = [&](double value) {
    chart.low = std::min(chart.low, value);
    chart.high = std::max(chart.high, value);
  };
  include(row.value);
  include(row.range ? row.range->first : 0);
  include(row.range ? row.range->second : 0);
  include(row.mark.value_or(0));
}

// Rows in any other order than preorder are no tree any more.
bool IsTree(const Table& table) {
  const Column* const depth = table.Find("depth");
  return depth != nullptr && depth->role == Role::kKey;
}

// Where the points of the lines end up, by label; lines in order of first appearance.
class LineFinder {
 public:
  explicit LineFinder(std::vector<ChartLine>& lines) : lines_(lines) {}

  ChartLine& Find(const std::string& label) {
    const auto [at, is_new] = places_.try_emplace(label, lines_.size());
    if (is_new) {
      lines_.push_back({label, Tone::kCompute, {}});
    }
    return lines_[at->second];
  }

 private:
  std::vector<ChartLine>& lines_;
  std::map<std::string, size_t> places_;
};

void AddPoints(const Table& table, const ViewSpec& view, std::vector<ChartLine>& lines) {
  const Columns labels = NamingColumns(table, view);
  const Columns values = Present(table, view.values);
  const Column* const x = table.Find(view.x);
  LineFinder finder(lines);
  for (const Column* value : values) {
    const std::string prefix = values.size() > 1 ? PartLabel(value->name) : std::string();
    for (size_t row = 0; row < table.rows(); ++row) {
      if (value->IsMissing(row) || x->IsMissing(row)) {
        continue;
      }
      std::string label = prefix;
      AppendPart(RowLabel(labels, row), label);
      finder.Find(label).points.emplace_back(NumberAt(x, row), NumberAt(value, row));
    }
  }
}

bool IsFlat(const ChartLine& line) {
  return std::all_of(line.points.begin(), line.points.end(),
                     [](const auto& point) { return point.second <= 0; });
}

// Extremes of what is drawn.
void Measure(LineChart& chart) {
  bool first = true;
  for (ChartLine& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      chart.begin = first ? x : std::min(chart.begin, x);
      chart.end = first ? x : std::max(chart.end, x);
      chart.largest = std::max(chart.largest, y);
      chart.whole_numbers = chart.whole_numbers && IsWhole(y);
      first = false;
    }
  }
}

}  // namespace

double NumberAt(const Column* column, size_t row) {
  if (column == nullptr || column->IsMissing(row)) {
    return 0;
  }
  if (const auto* ints = std::get_if<IntValues>(&column->values)) {
    return static_cast<double>((*ints)[row]);
  }
  const auto* floats = std::get_if<FloatValues>(&column->values);
  return floats != nullptr && std::isfinite((*floats)[row]) ? (*floats)[row] : 0;
}

std::string TextAt(const Column* column, size_t row) {
  if (column == nullptr || column->IsMissing(row)) {
    return {};
  }
  return FormatCell(*column, ChooseFormat(column->unit, {0, true}, Precision::kCompact), row);
}

std::string PartLabel(std::string_view column) {
  for (const std::string_view suffix : {"_ns", "_bytes"}) {
    if (column.ends_with(suffix)) {
      column.remove_suffix(suffix.size());
      break;
    }
  }
  std::string label = ToPrintable(column);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

const Table* FindTable(std::span<const Table> tables, const ViewSpec& view) {
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& one) { return one.name == view.table; });
  if (table == tables.end() || Present(*table, view.labels).empty()) {
    return nullptr;
  }
  const size_t values = Present(*table, view.values).size();
  const bool complete = view.kind == ViewKind::kRoofline ? values == view.values.size()
                        : IsOfFirstValue(view.kind) ? table->Find(view.values.front()) != nullptr
                                                    : values > 0;
  const bool needs_x = view.kind == ViewKind::kSeries || view.kind == ViewKind::kHeat;
  const bool has_x = !needs_x || table->Find(view.x) != nullptr;
  const bool is_tree = view.kind != ViewKind::kFlame || IsTree(*table);
  return complete && has_x && is_tree ? &*table : nullptr;
}

bool IsTooShort(const Table& table, const Column& value, size_t row) {
  constexpr double kLeastNs = 10'000;
  const Column* const count = table.Find("count");
  const Column* const total = table.Find("total_ns");
  return value.unit == Unit::kGigabytesPerSecond && count != nullptr && total != nullptr &&
         NumberAt(total, row) < kLeastNs * NumberAt(count, row);
}

Tone RowTone(const Table& table, const ViewSpec& view, size_t row) {
  for (const Column& column : table.columns) {
    if (const std::optional<Tone> tone = CellTone(column, row); tone.has_value()) {
      return *tone;
    }
  }
  const Column* const value = table.Find(view.values.front());
  return value == nullptr ? Tone::kCompute : ToneOf(*value);
}

BarChart MakeBarChart(const Table& table, const ViewSpec& view) {
  const Columns parts = DrawnParts(table, view);
  BarChart chart;
  for (const Column* part : parts) {
    chart.unit = part->unit;
    chart.parts.push_back({PartLabel(part->name), ToneOf(*part), 0});
  }
  AddBars(table, parts, chart);
  PickBars(table, view, chart);
  NameBars(table, view, chart);
  return chart;
}

std::vector<std::string> BarNames(const BarChart& chart) {
  std::vector<std::string> names;
  names.reserve(chart.bars.size());
  for (const ChartBar& bar : chart.bars) {
    names.push_back(bar.label);
  }
  return names;
}

IntervalChart MakeIntervalChart(const Table& table, const ViewSpec& view) {
  IntervalChart chart;
  const Unit unit = table.Find(view.values.front())->unit;
  chart.unit = unit == Unit::kOfRow ? Unit::kShare : unit;
  chart.mark = view.x.empty() ? std::string() : PartLabel(view.x);
  const size_t most = AreNames(table, view) ? kMostBars : kMostOrdered;
  const Columns labels = NamingColumns(table, view);
  for (size_t row = 0; row < table.rows(); ++row) {
    std::optional<ChartInterval> interval = MakeInterval(table, view, row);
    if (!interval) {
      continue;
    }
    if (chart.rows.size() == most) {
      ++chart.more;
      continue;
    }
    interval->label = LabelOrDash(labels, row);
    Measure(*interval, chart);
    chart.rows.push_back(*std::move(interval));
  }
  return chart;
}

LineChart MakeLineChart(const Table& table, const ViewSpec& view) {
  LineChart chart;
  chart.x_unit = table.Find(view.x)->unit;
  chart.unit = Present(table, view.values).front()->unit;
  AddPoints(table, view, chart.lines);
  std::erase_if(chart.lines, IsFlat);
  chart.more = chart.lines.size() - std::min(chart.lines.size(), kMostLines);
  chart.lines.resize(chart.lines.size() - chart.more);
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    ChartLine& line = chart.lines[i];
    line.tone = LineTone(i);
    std::stable_sort(line.points.begin(), line.points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  Measure(chart);
  return chart;
}

}  // namespace borescope::internal
