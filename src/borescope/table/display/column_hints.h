// ColumnHints: how a column is best shown. Set where a table is made, beside unit and role; text,
// pictures and the page follow them and guess nothing from names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace borescope::internal {

// Tones: colours by what they mean, the same in pictures, on terminals and on the page of the
// report: compute blue, communication orange, copies pink, idle grey. The shades are those of
// output/charts/svg_canvas.h. Pure functions; the texts live as long as the program.

enum class Tone : uint8_t {
  kCompute,
  kComm,
  kCopy,
  kIdle,
  kTail,  // idle at the end
  kHost,
  kDevice,
  kSync,
  kData,
  kFaint,
  kUnknown,
  kFlameAnnotation,  // frames of flame graphs, which texts are drawn on
  kFlameOp,
  kFlamePython,
  kFlameKernel,
  kFlameCopy,
  kFlameOther,
  kInk,    // text; this and what follows is never of a column
  kQuiet,  // text that steps back
  kLine,   // grids
  kLess3,  // cells of heat maps, by how they relate to what is usual: much less
  kLess2,
  kLess1,
  kSame,
  kMore1,
  kMore2,
  kMore3,  // much more
  kPaper,
  kCount
};

// As programs read it, in JSON and in class names of pictures: "comm".
std::string_view ToneName(Tone tone);
// The tone of that name which a column can have; nothing if there is none.
std::optional<Tone> FindTone(std::string_view name);

// Palettes: which tone the cells of a text column have. The one list of them for text, pictures and
// the page. Pure functions; the texts live as long as the program.

enum class Palette : uint8_t {
  kNone,
  kWork,     // names and classes of operators and device work: communication and copies stand out
  kCause,    // what time is bound by
  kFrame,    // kinds of frames of a flame graph
  kLevel,    // how a length relates to the usual one: kLevels
  kVerdict,  // what came out of a check
  kCount
};

// The cells of kLevel, from the shortest to the longest.
struct LevelRow {
  std::string_view cell;
  double below;  // ratios of a length to the usual one
  Tone tone;
};
std::span<const LevelRow> Levels();
// The level of a ratio.
std::string_view LevelOf(double ratio);

// As programs read it: "work"; empty for kNone.
std::string_view PaletteName(Palette palette);
// kNone for a name that is none.
Palette FindPalette(std::string_view name);

// The tone of a cell; nothing for most cells of kWork and for what is not listed.
std::optional<Tone> ToneOfCell(Palette palette, std::string_view cell);

struct ColumnHints {
  std::optional<Tone> tone = {};     // of its values in charts; compute if there is none
  Palette palette = Palette::kNone;  // of its cells: they colour the rows of the table
  // Its cells are names, which have no order of their own: bars that they label are sorted by
  // length.
  bool names = false;

  bool operator==(const ColumnHints&) const = default;
};

}  // namespace borescope::internal
