// Operators by arithmetic intensity and rate, both on logarithmic axes, under the peaks of the
// device.
#include "borescope/output/charts/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/charts.h"
#include "borescope/output/charts/scale.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

constexpr double kHeight = 360;
constexpr double kLeft = 56;  // of numbers
constexpr double kTickSize = 11;
constexpr double kLabelSize = 11.5;
constexpr double kAxisHeight = 40;
constexpr double kWidestLabel = 190;
constexpr double kDecadesBelow = 4;  // below 1 FLOP per byte, and below kDecadesUnder, at most
constexpr double kDecadesUnder = 2;  // of rate, below the peak, at least
constexpr double kHeadroom = 2.5;    // above the peak
constexpr double kGigaPerTera = 1e3;
constexpr double kRoofText = 15;  // lines nearer to each other have their names on both sides
constexpr size_t kMostLabels = 8;
constexpr size_t kMostTold = 8;

struct Plot {
  LogAxis x;
  LogAxis y;
  Box box;
};

// The decade in which the smallest of `values` lies that is not left out: a few stray operators do
// not decide, and what is kDecadesBelow under `high` is no work to look at.
double LowDecade(const std::vector<double>& values, double high) {
  const double limit = std::floor(high - kDecadesBelow);
  double low = high;
  for (const double value : values) {
    const double exponent = std::log10(value);
    low = exponent >= limit ? std::min(low, exponent) : low;
  }
  return std::floor(low);
}

Plot LayOut(const Roofline& roofline, const ChartPage& page) {
  std::vector<double> intensities;
  std::vector<double> rates;
  double peak = 0;
  double most = 0;
  for (const RooflinePoint& point : roofline.points) {
    peak = std::max(peak, point.rate);
    most = std::max(most, point.intensity);
    intensities.push_back(point.intensity);
    rates.push_back(point.rate);
  }
  for (const Roof& roof : roofline.roofs) {
    peak = std::max(peak, roof.tflops);
  }
  const double ridge = roofline.memory_gbps > 0 ? peak * kGigaPerTera / roofline.memory_gbps : 1;
  const Box box{page.left + kLeft, page.y, page.width() - kLeft, kHeight};
  const double low_x = LowDecade(intensities, 0);
  const double high_x = std::max(low_x + 1, std::ceil(std::log10(std::max(most, ridge * 10))));
  const double low_y = LowDecade(rates, std::log10(peak) - kDecadesUnder);
  return {{low_x, high_x, box.x, box.width},
          {low_y, std::log10(peak * kHeadroom), box.y + box.height, -box.height},
          box};
}

bool IsDrawn(const RooflinePoint& point, const Plot& plot) {
  return std::log10(point.intensity) >= plot.x.low && std::log10(point.rate) >= plot.y.low;
}

std::string PowerOfTen(int exponent) {
  constexpr int kLeastPlain = -3;
  constexpr int kMostPlain = 5;
  if (exponent < kLeastPlain || exponent > kMostPlain) {
    return fmt::format("1e{}", exponent);
  }
  return exponent < 0 ? fmt::format("{:.{}f}", std::pow(10.0, exponent), -exponent)
                      : GroupDigits(static_cast<int64_t>(std::llround(std::pow(10.0, exponent))));
}

TextLook Look(double size, Tone tone, TextLook::Anchor anchor) {
  return {.size = size, .tone = tone, .anchor = anchor};
}

void DrawGrid(const Plot& plot, SvgCanvas& canvas) {
  const Box& box = plot.box;
  for (auto exponent = static_cast<int>(plot.y.low); exponent <= plot.y.high; ++exponent) {
    const double y = plot.y.At(std::pow(10.0, exponent));
    canvas.Line({box.x, y}, {box.x + box.width, y}, Tone::kLine);
    canvas.Text({box.x - 8, y + 4}, PowerOfTen(exponent),
                Look(kTickSize, Tone::kQuiet, TextLook::Anchor::kEnd));
  }
  for (auto exponent = static_cast<int>(plot.x.low); exponent <= plot.x.high; ++exponent) {
    const double x = plot.x.At(std::pow(10.0, exponent));
    const bool is_last = exponent == static_cast<int>(plot.x.high);
    canvas.Line({x, box.y}, {x, box.y + box.height}, Tone::kLine);
    canvas.Text({x, box.y + box.height + kTickSize + 4}, PowerOfTen(exponent),
                Look(kTickSize, Tone::kQuiet,
                     is_last ? TextLook::Anchor::kEnd : TextLook::Anchor::kMiddle));
  }
  canvas.Text({box.x + box.width, box.y + box.height + 2 * kTickSize + 10}, "FLOP per byte",
              Look(kTickSize, Tone::kQuiet, TextLook::Anchor::kEnd));
  canvas.Text({box.x + 6, box.y + kTickSize + 4}, "TFLOP/s",
              Look(kTickSize, Tone::kQuiet, TextLook::Anchor::kStart));
}

// Names of roofs are above their lines, or below where another line is close above.
void DrawRoof(const Roofline& roofline, const Roof& roof, const Plot& plot, double memory,
              std::vector<Box>& taken, SvgCanvas& canvas) {
  const double y = plot.y.At(roof.tflops);
  const double right = plot.box.x + plot.box.width;
  const bool is_below =
      std::any_of(roofline.roofs.begin(), roofline.roofs.end(), [&](const Roof& other) {
        return other.tflops > roof.tflops && y - plot.y.At(other.tflops) < kRoofText;
      });
  const double x = plot.x.At(roof.tflops * kGigaPerTera / memory);
  const double width = TextWidth(roof.name, kTickSize);
  const double base = y + (is_below ? 12 : -4);
  canvas.Line({x, y}, {right, y}, Tone::kInk, 1.5);
  taken.push_back({x, y - 1, right - x, 2});
  canvas.Text({right - 2, base}, roof.name, Look(kTickSize, Tone::kInk, TextLook::Anchor::kEnd));
  taken.push_back({right - 2 - width, base - kTickSize, width, kTickSize + 2});
}

void DrawRoofs(const Roofline& roofline, const Plot& plot, std::vector<Box>& taken,
               SvgCanvas& canvas) {
  const double memory = roofline.memory_gbps;
  if (memory <= 0 || roofline.roofs.empty()) {
    return;
  }
  double peak = 0;
  for (const Roof& roof : roofline.roofs) {
    peak = std::max(peak, roof.tflops);
    DrawRoof(roofline, roof, plot, memory, taken, canvas);
  }
  const double lowest =
      std::max(std::pow(10.0, plot.y.low), std::pow(10.0, plot.x.low) * memory / kGigaPerTera);
  canvas.Line({plot.x.At(lowest * kGigaPerTera / memory), plot.y.At(lowest)},
              {plot.x.At(peak * kGigaPerTera / memory), plot.y.At(peak)}, Tone::kInk, 1.5);
}

bool Overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool Holds(const Box& outer, const Box& inner) {
  return inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width &&
         inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height;
}

struct Disc {
  Point centre;
  double radius = 0;
  const RooflinePoint* point = nullptr;
};

// Areas are by time.
Disc DiscOf(const RooflinePoint& point, const Plot& plot) {
  return {{plot.x.At(point.intensity), plot.y.At(point.rate)},
          4 + 10 * std::sqrt(point.weight),
          &point};
}

std::vector<std::string> NamesOf(const std::vector<Disc>& discs) {
  std::vector<std::string> names;
  names.reserve(discs.size());
  for (const Disc& disc : discs) {
    names.push_back(disc.point->name);
  }
  return FitTexts(names, kWidestLabel, kLabelSize);
}

// A name beside its disc, where it hides nothing that was written before; else nowhere.
void DrawName(const Disc& disc, const std::string& name, const Plot& plot, std::vector<Box>& taken,
              SvgCanvas& canvas) {
  const double width = TextWidth(name, kLabelSize);
  const double gap = disc.radius + 4;
  const double middle = disc.centre.y - kLabelSize / 2;
  const Box places[] = {
      {disc.centre.x + gap, middle, width, kLabelSize},
      {disc.centre.x - gap - width, middle, width, kLabelSize},
      {disc.centre.x - width / 2, disc.centre.y - gap - kLabelSize, width, kLabelSize},
      {disc.centre.x - width / 2, disc.centre.y + gap, width, kLabelSize},
      {disc.centre.x + gap / 2, disc.centre.y - gap - kLabelSize / 2, width, kLabelSize},
      {disc.centre.x + gap / 2, disc.centre.y + gap - kLabelSize / 2, width, kLabelSize},
      {disc.centre.x - gap / 2 - width, disc.centre.y - gap - kLabelSize / 2, width, kLabelSize},
      {disc.centre.x - gap / 2 - width, disc.centre.y + gap - kLabelSize / 2, width, kLabelSize},
  };
  for (const Box& place : places) {
    const bool is_free = std::none_of(taken.begin(), taken.end(),
                                      [&](const Box& other) { return Overlap(place, other); });
    if (is_free && Holds(plot.box, place)) {
      canvas.Text({place.x, place.y + kLabelSize - 2}, name,
                  Look(kLabelSize, Tone::kInk, TextLook::Anchor::kStart));
      taken.push_back(place);
      return;
    }
  }
}

void DrawPoints(const Roofline& roofline, const Plot& plot, std::vector<Box> taken,
                SvgCanvas& canvas) {
  constexpr double kInner = 0.8;  // of the radius: the corners around a disc are free
  std::vector<Disc> discs;
  for (const RooflinePoint& point : roofline.points) {
    if (IsDrawn(point, plot)) {
      discs.push_back(DiscOf(point, plot));
    }
  }
  for (const Disc& disc : discs) {
    canvas.Circle(disc.centre, disc.radius, Tone::kCompute, 0.55, disc.point->tip);
  }
  for (const Disc& disc : discs) {
    const double r = disc.radius * kInner;
    taken.push_back({disc.centre.x - r, disc.centre.y - r, 2 * r, 2 * r});
  }
  discs.resize(std::min(discs.size(), kMostLabels));
  const std::vector<std::string> names = NamesOf(discs);
  for (size_t i = 0; i < discs.size(); ++i) {
    DrawName(discs[i], names[i], plot, taken, canvas);
  }
}

std::string LeftOut(const Roofline& roofline, const Plot& plot) {
  const auto count =
      std::count_if(roofline.points.begin(), roofline.points.end(),
                    [&](const RooflinePoint& point) { return !IsDrawn(point, plot); });
  return count == 0 ? ""
                    : fmt::format(" {} of {} operators lie far below and are not drawn.", count,
                                  roofline.points.size());
}

std::string Note(const Roofline& roofline) {
  std::string note = roofline.device;
  if (roofline.memory_gbps <= 0) {
    note += note.empty() ? "The peaks of the device are not known." : ": its peaks are not known.";
  } else {
    const NumberFormat gbps = AmountFormat(Unit::kGigabytesPerSecond, roofline.memory_gbps, true);
    note += fmt::format(": memory {}", Amount(std::round(roofline.memory_gbps), gbps));
    for (const Roof& roof : roofline.roofs) {
      note += fmt::format("; {} {} TFLOP/s", roof.name,
                          FormatValue(roof.tflops, {.decimals = 1, .grouped = true, .unit = {}}));
    }
    note += ".";
  }
  return note + " Areas are by time.";
}

}  // namespace

bool DrawRoofline(const ChartInput& input, ChartPage& page) {
  const Roofline roofline = MakeRoofline(input.table, input.view, input.tables);
  if (roofline.points.empty()) {
    return false;
  }
  const Plot plot = LayOut(roofline, page);
  std::vector<Box> taken;
  DrawGrid(plot, page.canvas);
  DrawRoofs(roofline, plot, taken, page.canvas);
  DrawPoints(roofline, plot, std::move(taken), page.canvas);
  page.y = plot.box.y + plot.box.height + kAxisHeight;
  const std::string note = Note(roofline) + LeftOut(roofline, plot);
  DrawNote(note, page);
  page.description += ": " + note;
  for (size_t i = 0; i < std::min(roofline.points.size(), kMostTold); ++i) {
    page.description += " " + roofline.points[i].tip + ".";
  }
  return true;
}

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
