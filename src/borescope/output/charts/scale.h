// From values to pixels, and from pixels to how much text fits. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/charts/charts.h"
#include "borescope/output/units/units.h"

namespace borescope::internal {

// Texts and swatches of a chart that flow from line to line.

struct LegendItem {
  Tone tone = Tone::kCompute;
  std::string label;
  std::string detail;  // in small print after it; may be empty
};

// Moves page.y below the legend. Labels wider than half the page are shortened.
void DrawLegend(std::span<const LegendItem> items, ChartPage& page);

// Text broken at blanks into lines of at most `width` pixels; a longer word is cut.
std::vector<std::string> WrapPixels(std::string_view text, double width, double size);

// Round values from 0 to `largest`, about `wanted` of them, 1, 2 or 5 times a power of ten apart.
// None unless largest > 0; both ends count where they are round.
std::vector<double> Ticks(double largest, size_t wanted);
// The same for numbers without fractions: none of 0.5.
std::vector<double> WholeTicks(double largest, size_t wanted);

// How the ticks of an axis are written: in the unit that suits the last, with as many decimals as
// distinguish them.
NumberFormat TickFormat(Unit unit, std::span<const double> ticks);

// A value with its unit, as people read it: "12.3 ms". Microseconds are "µs" here.
std::string Amount(double value, const NumberFormat& format);
// The format that suits `largest` and all smaller values.
NumberFormat AmountFormat(Unit unit, double largest, bool whole);
// "µs" for "us".
std::string_view UnitText(const NumberFormat& format);
// A sentence of the engine, where times are "12 us" as on a terminal, as people read it: "12 µs".
std::string WithMicroSigns(std::string_view prose);
// "45.6 %", or "–" of nothing.
std::string ShareText(double part, double whole);

// Places along a line.
struct Stretch {
  double begin = 0;
  double length = 0;
};
// `lengths` one behind the other from `begin` on, `pixels` for each unit of length: each starts
// where the one before ends.
std::vector<Stretch> PlaceParts(std::span<const double> lengths, double begin, double pixels);

// An axis of powers of ten from 10^low to 10^high, over `length` pixels from `begin` on; negative
// for axes that grow upward.
struct LogAxis {
  double low = 0;
  double high = 1;
  double begin = 0;
  double length = 0;

  double At(double value) const;
};

// How wide text is at a size in pixels: an upper bound for common sans-serif fonts, for nobody
// knows which one draws it. Monospaced fonts differ little.
double TextWidth(std::string_view text, double size);
double MonoWidth(std::string_view text, double size);

// Labels of at most `width` pixels for names that appear together (names/labels.h).
std::vector<std::string> FitTexts(std::span<const std::string> names, double width, double size);
// The same for a name alone.
std::string FitText(std::string_view name, double width, double size);
std::string FitMono(std::string_view name, double width, double size);

}  // namespace borescope::internal
