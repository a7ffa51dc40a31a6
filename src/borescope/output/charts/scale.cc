#include "borescope/output/charts/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "borescope/base/text/text.h"
#include "borescope/output/names/labels.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kMicroseconds = "\xC2\xB5s";
constexpr std::string_view kNarrowBlank = "\xC2\xA0";  // keeps a number and its unit together

// Of the widest common fonts (DejaVu Sans, Verdana), in parts of the size.
constexpr double kNarrow = 0.36;
constexpr double kMiddling = 0.42;
constexpr double kNormal = 0.64;
constexpr double kCapital = 0.73;
constexpr double kBroad = 1.0;
constexpr double kMono = 0.61;

// Blanks that keep words together, and middle dots, which separate labels.
bool IsThin(char32_t c) { return c == 0xA0 || c == 0xB7; }

double WidthOf(char32_t c) {
  constexpr std::string_view kNarrowOnes = " !'(),./:;I[]fijl|";
  constexpr std::string_view kMiddlingOnes = "-rt";
  constexpr std::string_view kBroadOnes = "%@MWmw";
  constexpr char32_t kLatin = 0x250;  // letters like the unaccented ones
  if (c >= 0x80) {
    return IsThin(c) ? kNarrow : c < kLatin ? kCapital : kBroad;
  }
  const char letter = static_cast<char>(c);
  const auto is_in = [&](std::string_view ones) { return ones.find(letter) != ones.npos; };
  return is_in(kNarrowOnes)               ? kNarrow
         : is_in(kMiddlingOnes)           ? kMiddling
         : is_in(kBroadOnes)              ? kBroad
         : letter >= 'A' && letter <= 'Z' ? kCapital
                                          : kNormal;
}

// 1, 2, 5 or 10 times a power of ten: the first one that is no less than `least`.
double RoundStep(double least) {
  constexpr double kFactors[] = {1, 2, 5, 10};
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  const auto* const factor = std::find_if(std::begin(kFactors), std::end(kFactors),
                                          [&](double one) { return one * power >= least; });
  return power * (factor == std::end(kFactors) ? 10 : *factor);
}

}  // namespace

std::vector<double> Ticks(double largest, size_t wanted) {
  constexpr double kRounding = 1e-9;
  std::vector<double> ticks;
  if (!(largest > 0) || !std::isfinite(largest) || wanted == 0) {
    return ticks;
  }
  const double step = RoundStep(largest / static_cast<double>(wanted));
  const auto count = static_cast<size_t>(std::floor(largest / step + kRounding));
  for (size_t i = 0; i <= count; ++i) {
    ticks.push_back(static_cast<double>(i) * step);
  }
  return ticks;
}

std::vector<double> WholeTicks(double largest, size_t wanted) {
  const double most = std::max(1.0, std::min(largest, static_cast<double>(wanted)));
  return Ticks(largest, largest > 0 ? static_cast<size_t>(most) : 0);
}

NumberFormat TickFormat(Unit unit, std::span<const double> ticks) {
  constexpr int kMostDecimals = 6;
  const double largest = ticks.empty() ? 0 : ticks.back();
  NumberFormat format = ChooseFormat(unit, {largest, true}, Precision::kCompact);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : largest;
  const double shown =
      step / static_cast<double>(format.divisor) * static_cast<double>(format.factor);
  const double digits = shown > 0 ? std::ceil(-std::log10(shown) - 1e-9) : 0;
  format.decimals = std::clamp(static_cast<int>(digits), 0, kMostDecimals);
  format.grouped = true;
  return format;
}

NumberFormat AmountFormat(Unit unit, double largest, bool whole) {
  return ChooseFormat(unit, {largest, whole}, Precision::kCompact);
}

std::string_view UnitText(const NumberFormat& format) {
  return format.unit == "us" ? kMicroseconds : format.unit;
}

std::string WithMicroSigns(std::string_view prose) {
  constexpr std::string_view kUnit = " us";
  const auto is_word = [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  std::string text;
  for (size_t at = prose.find(kUnit); at != std::string_view::npos; at = prose.find(kUnit)) {
    const size_t end = at + kUnit.size();
    const bool is_unit =
        at > 0 && IsDigit(prose[at - 1]) && (end == prose.size() || !is_word(prose[end]));
    text += prose.substr(0, is_unit ? at + 1 : end);
    text += is_unit ? kMicroseconds : "";
    prose.remove_prefix(end);
  }
  return text.append(prose);
}

std::string Amount(double value, const NumberFormat& format) {
  const std::string number = FormatValue(value, format);
  return format.unit.empty() ? number
                             : fmt::format("{}{}{}", number, kNarrowBlank, UnitText(format));
}

std::string ShareText(double part, double whole) {
  const NumberFormat format = ChooseFormat(Unit::kShare, {}, Precision::kCompact);
  return whole > 0 ? fmt::format("{}{}%", FormatValue(part / whole, format), kNarrowBlank)
                   : "\xE2\x80\x93";
}

std::vector<Stretch> PlaceParts(std::span<const double> lengths, double begin, double pixels) {
  std::vector<Stretch> parts;
  parts.reserve(lengths.size());
  for (const double length : lengths) {
    parts.push_back({begin, length * pixels});
    begin += length * pixels;
  }
  return parts;
}

double LogAxis::At(double value) const {
  return begin + (std::log10(value) - low) / (high - low) * length;
}

double TextWidth(std::string_view text, double size) {
  double width = 0;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    width += WidthOf(point.value);
    text.remove_prefix(point.bytes);
  }
  return width * size;
}

double MonoWidth(std::string_view text, double size) {
  return static_cast<double>(DisplayWidth(text)) * kMono * size;
}

std::vector<std::string> FitTexts(std::span<const std::string> names, double width, double size) {
  return LabelNames(names, width / size, WidthOf).texts;
}

std::string FitText(std::string_view name, double width, double size) {
  const std::string whole(name);
  return FitTexts(std::span(&whole, 1), width, size).front();
}

std::string FitMono(std::string_view name, double width, double size) {
  const std::string whole(name);
  const double cells = std::max(0.0, width / size / kMono);
  return LabelNames(std::span(&whole, 1), static_cast<size_t>(cells)).texts.front();
}

namespace {

constexpr double kSize = 12.5;
constexpr double kSwatch = 10;
constexpr double kSwatchGap = 6;
constexpr double kDetailGap = 6;
constexpr double kItemGap = 14;
constexpr double kLineHeight = 20;
constexpr double kBelow = 8;

}  // namespace

void DrawLegend(std::span<const LegendItem> items, ChartPage& page) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const LegendItem& item : items) {
    names.push_back(item.label);
  }
  const std::vector<std::string> labels = FitTexts(names, page.width() / 2, kSize);
  double x = page.left;
  for (size_t i = 0; i < items.size(); ++i) {
    const LegendItem& item = items[i];
    const std::string& label = labels[i];
    const double label_width = TextWidth(label, kSize);
    const double detail_width =
        item.detail.empty() ? 0 : kDetailGap + TextWidth(item.detail, kSize);
    const double width = kSwatch + kSwatchGap + label_width + detail_width;
    if (x > page.left && x + width > page.right) {
      x = page.left;
      page.y += kLineHeight;
    }
    const double text = x + kSwatch + kSwatchGap;
    page.canvas.Rect({x, page.y + 2, kSwatch, kSwatch}, item.tone);
    page.canvas.Text({text, page.y + kSize - 1}, label, {.size = kSize});
    page.canvas.Text({text + label_width + kDetailGap, page.y + kSize - 1}, item.detail,
                     {.size = kSize, .tone = Tone::kQuiet});
    x += width + kItemGap;
  }
  page.y += items.empty() ? 0 : kLineHeight + kBelow;
}

std::vector<std::string> WrapPixels(std::string_view text, double width, double size) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string word = FitText(text.substr(0, blank), width, size);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (lines.back().empty() || TextWidth(longer, size) <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace borescope::internal
