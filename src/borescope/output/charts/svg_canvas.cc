#include "borescope/output/charts/svg_canvas.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "borescope/output/markdown.h"

namespace borescope::internal {

namespace {

// Shades as in web/src/style.css.
constexpr ToneRow kTones[] = {
    {Tone::kCompute, "#0072b2", "#3a9bd9", 32},  {Tone::kComm, "#e69f00", "#e9ab26", 214},
    {Tone::kCopy, "#cc79a7", "#d88fb6", 175},    {Tone::kIdle, "#b4bac4", "#59616e", 245},
    {Tone::kTail, "#8a93a3", "#7d8796", 250},    {Tone::kHost, "#009e73", "#1fb58a", 36},
    {Tone::kDevice, "#56b4e9", "#7cc7f0", 117},  {Tone::kSync, "#d55e00", "#e8793a", 166},
    {Tone::kData, "#c9b800", "#d9cd3f", 185},    {Tone::kFaint, "#d6d9df", "#3c434e", 240},
    {Tone::kUnknown, "#4a5261", "#b3bac6", 236}, {Tone::kFlameAnnotation, "#f3d9a4", "#6b5423"},
    {Tone::kFlameOp, "#b5d6ec", "#234f6c"},      {Tone::kFlamePython, "#bfe3d2", "#22543f"},
    {Tone::kFlameKernel, "#8fc0e0", "#1d5f8c"},  {Tone::kFlameCopy, "#ecc6db", "#6f3f5b"},
    {Tone::kFlameOther, "#dde0e6", "#3a414c"},   {Tone::kInk, "#1b1f26", "#e6e8ec"},
    {Tone::kQuiet, "#586070", "#a3abb9"},        {Tone::kLine, "#dfe2e7", "#333943"},
    {Tone::kLess3, "#6cb0dc", "#1b6fa3"},        {Tone::kLess2, "#a3cbe6", "#215270"},
    {Tone::kLess1, "#d5e6f2", "#26404f"},        {Tone::kSame, "#eceef1", "#333943"},
    {Tone::kMore1, "#fbe6cd", "#4d3b24"},        {Tone::kMore2, "#f7c78d", "#7a4f14"},
    {Tone::kMore3, "#ee9f45", "#a8650a"},        {Tone::kPaper, "#ffffff", "#14171c"},
};
constexpr bool InStep() {
  for (size_t i = 0; i < std::size(kTones); ++i) {
    if (kTones[i].tone != static_cast<Tone>(i)) {
      return false;
    }
  }
  return std::size(kTones) == static_cast<size_t>(Tone::kCount);
}
static_assert(InStep());

}  // namespace

const ToneRow& GetToneRow(Tone tone) { return kTones[static_cast<size_t>(tone)]; }

Tone LineTone(size_t index) {
  constexpr Tone kOrder[kMostLines] = {Tone::kCompute, Tone::kComm, Tone::kHost, Tone::kCopy,
                                       Tone::kDevice,  Tone::kSync, Tone::kData, Tone::kIdle};
  return kOrder[index % kMostLines];
}

namespace {

constexpr double kTextSize = 12;  // where elements do not say otherwise

std::string ClassRule(char kind, std::string_view property, Tone tone) {
  const ToneRow& row = GetToneRow(tone);
  return fmt::format(".{}-{}{{{}:{}}}", kind, ToneName(tone), property, row.dark);
}

}  // namespace

std::string Pixels(double value) {
  if (!std::isfinite(value)) {
    return "0";  // of numbers too large to be drawn
  }
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text == "-0" ? "0" : text;
}

std::string SvgCanvas::Fill(Tone tone) {
  fills_[static_cast<size_t>(tone)] = true;
  const ToneRow& row = GetToneRow(tone);
  return fmt::format(R"(class="f-{}" fill="{}")", ToneName(tone), row.light);
}

std::string SvgCanvas::Stroke(Tone tone) {
  strokes_[static_cast<size_t>(tone)] = true;
  const ToneRow& row = GetToneRow(tone);
  return fmt::format(R"(class="s-{}" stroke="{}")", ToneName(tone), row.light);
}

void SvgCanvas::Close(std::string_view element, std::string_view tip) {
  body_ +=
      tip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", EscapeMarkup(tip), element);
}

void SvgCanvas::Rect(const Box& box, Tone fill, std::string_view tip) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" {})", Pixels(box.x),
                       Pixels(box.y), Pixels(box.width), Pixels(box.height), Fill(fill));
  Close("rect", tip);
}

void SvgCanvas::Circle(Point centre, double radius, Tone fill, double opacity,
                       std::string_view tip) {
  body_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" {})", Pixels(centre.x), Pixels(centre.y),
                       Pixels(radius), Fill(fill));
  body_ += opacity < 1 ? fmt::format(R"( fill-opacity="{}")", opacity) : "";
  Close("circle", tip);
}

void SvgCanvas::Line(Point from, Point to, Tone stroke, double width) {
  body_ += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" {})", Pixels(from.x),
                       Pixels(from.y), Pixels(to.x), Pixels(to.y), Stroke(stroke));
  body_ += width != 1 ? fmt::format(R"( stroke-width="{}")", Pixels(width)) : "";
  body_ += "/>\n";
}

void SvgCanvas::Path(std::string_view path, Tone stroke, double width) {
  body_ += fmt::format(R"(<path d="{}" fill="none" {} stroke-width="{}"/>)", path, Stroke(stroke),
                       Pixels(width));
  body_ += "\n";
}

void SvgCanvas::Text(Point at, std::string_view text, const TextLook& look) {
  if (text.empty()) {
    return;
  }
  constexpr std::string_view kAnchors[] = {"", R"( text-anchor="middle")", R"( text-anchor="end")"};
  body_ += fmt::format(R"(<text x="{}" y="{}" {})", Pixels(at.x), Pixels(at.y), Fill(look.tone));
  body_ += look.size != kTextSize ? fmt::format(R"( font-size="{}")", Pixels(look.size)) : "";
  body_ += kAnchors[static_cast<size_t>(look.anchor)];
  body_ += look.bold ? R"( font-weight="600")" : "";
  body_ += look.mono ? R"( font-family="monospace")" : "";
  body_ += fmt::format(">{}</text>\n", EscapeMarkup(text));
}

std::string SvgCanvas::Finish(double width, double height, std::string_view title,
                              std::string_view description, Paper look) const {
  const ToneRow& paper = GetToneRow(Tone::kPaper);
  std::string rules = ClassRule('f', "fill", Tone::kPaper);
  for (size_t i = 0; i < static_cast<size_t>(Tone::kPaper); ++i) {
    rules += fills_[i] ? ClassRule('f', "fill", static_cast<Tone>(i)) : "";
  }
  for (size_t i = 0; i < strokes_.size(); ++i) {
    rules += strokes_[i] ? ClassRule('s', "stroke", static_cast<Tone>(i)) : "";
  }
  const std::string style =
      look == Paper::kLight
          ? ""
          : fmt::format("<style>@media (prefers-color-scheme: dark){{{}}}</style>\n", rules);
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" font-family="sans-serif" font-size="{2}">
<title>{3}</title>
<desc>{4}</desc>
{5}<rect width="{0}" height="{1}" class="f-{6}" fill="{7}"/>
{8}</svg>
)",
      Pixels(width), Pixels(height), Pixels(kTextSize), EscapeMarkup(title),
      EscapeMarkup(description), style, ToneName(Tone::kPaper), paper.light, body_);
}

}  // namespace borescope::internal
