#include <fmt/format.h>

#include <algorithm>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/roofline.h"
#include "borescope/output/charts/scale.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

std::string TipOf(const Table& table, size_t row, const RooflinePoint& point, double time) {
  const double share = NumberAt(table.Find("roof_share"), row);
  return fmt::format("{}: {}, {} of the roof, bound by {}, {:.4g} TFLOP/s at {:.4g} FLOP per byte",
                     point.name, Amount(time, AmountFormat(Unit::kNanoseconds, time, true)),
                     ShareText(share, 1), TextAt(table.Find("bound"), row), point.rate,
                     point.intensity);
}

// Above zero, and nothing an axis of powers of ten would not come to an end with.
bool IsOnAxis(double value) {
  constexpr double kMost = 1e30;
  return value > 1 / kMost && value < kMost;
}

std::vector<RooflinePoint> PointsOf(const Table& table, const ViewSpec& view) {
  const Column* const time = table.Find("total_ns");
  const Column* const name = table.Find(view.labels.front());
  std::vector<RooflinePoint> points;
  double most = 1;
  for (size_t row = 0; row < table.rows(); ++row) {
    RooflinePoint point{NumberAt(table.Find(view.values[0]), row),
                        NumberAt(table.Find(view.values[1]), row),
                        NumberAt(time, row),
                        TextAt(name, row),
                        {}};
    most = std::max(most, point.weight);
    if (IsOnAxis(point.intensity) && IsOnAxis(point.rate)) {
      point.tip = TipOf(table, row, point, point.weight);
      points.push_back(std::move(point));
    }
  }
  for (RooflinePoint& point : points) {
    point.weight = std::max(0.0, point.weight / most);
  }
  std::stable_sort(
      points.begin(), points.end(),
      [](const RooflinePoint& a, const RooflinePoint& b) { return a.weight > b.weight; });
  return points;
}

void AddRoofs(const Table& roofs, Roofline& roofline) {
  constexpr std::string_view kPeak = "_tflops";
  for (const Column& column : roofs.columns) {
    const double rate = NumberAt(&column, 0);
    if (!column.name.ends_with(kPeak) || !IsOnAxis(rate)) {
      continue;
    }
    const std::string name = ToPrintable(column.name.substr(0, column.name.size() - kPeak.size()));
    const auto same = std::find_if(roofline.roofs.begin(), roofline.roofs.end(),
                                   [&](const Roof& roof) { return roof.tflops == rate; });
    if (same == roofline.roofs.end()) {
      roofline.roofs.push_back({name, rate});
    } else {
      same->name += ", " + name;
    }
  }
  const double memory = NumberAt(roofs.Find("memory_gbps"), 0);
  roofline.memory_gbps = IsOnAxis(memory) ? memory : 0;
  roofline.device = TextAt(roofs.Find("device"), 0);
}

}  // namespace

Roofline MakeRoofline(const Table& table, const ViewSpec& view, std::span<const Table> tables) {
  Roofline roofline;
  roofline.points = PointsOf(table, view);
  const auto roofs = std::find_if(tables.begin(), tables.end(),
                                  [](const Table& one) { return one.name == "roofs"; });
  if (roofs != tables.end() && roofs->rows() > 0) {
    AddRoofs(*roofs, roofline);
  }
  return roofline;
}

}  // namespace borescope::internal
