// What is drawn on a picture, as SVG. Text stays text, in generic fonts; colours are those of light
// paper, and of dark paper where the viewer asks for it (prefers-color-scheme). Nothing in it can
// run, link or load. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/table/display/column_hints.h"

namespace borescope::internal {

// The shades of tones, the same in pictures, on terminals and on the page of the report
// (web/src/style.css). The palette is that of Okabe and Ito, which people with any kind of colour
// vision can distinguish. Pure.

struct ToneRow {
  Tone tone;
  std::string_view light;
  std::string_view dark;
  uint8_t cube = 0;  // among the 256 colours of terminals
};
const ToneRow& GetToneRow(Tone tone);

// Lines of one chart, distinguished by their order.
inline constexpr size_t kMostLines = 8;
Tone LineTone(size_t index);

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct TextLook {
  double size = 12;
  Tone tone = Tone::kInk;
  enum class Anchor : uint8_t { kStart, kMiddle, kEnd } anchor = Anchor::kStart;
  bool bold = false;
  bool mono = false;
};

// Pixels, y downward. A `tip` is what viewers show where the pointer rests; empty for none.
class SvgCanvas {
 public:
  void Rect(const Box& box, Tone fill, std::string_view tip = {});
  // `opacity` below 1 lets grids and neighbours show through.
  void Circle(Point centre, double radius, Tone fill, double opacity, std::string_view tip = {});
  void Line(Point from, Point to, Tone stroke, double width = 1);
  // A line without an area; `path` in the language of SVG.
  void Path(std::string_view path, Tone stroke, double width);
  // `at` is on the base line.
  void Text(Point at, std::string_view text, const TextLook& look = {});

  // Whether colours are those of dark paper where the viewer asks for it.
  enum class Paper : uint8_t { kAsViewed, kLight };

  // The whole picture. Both texts are for screen readers.
  std::string Finish(double width, double height, std::string_view title,
                     std::string_view description, Paper look = Paper::kAsViewed) const;

 private:
  // Names the class of a colour as used.
  std::string Fill(Tone tone);
  std::string Stroke(Tone tone);
  void Close(std::string_view element, std::string_view tip);

  std::string body_;
  std::array<bool, static_cast<size_t>(Tone::kCount)> fills_ = {};
  std::array<bool, static_cast<size_t>(Tone::kCount)> strokes_ = {};
};

// A coordinate, to a tenth of a pixel: "12", "12.5".
std::string Pixels(double value);

}  // namespace borescope::internal
