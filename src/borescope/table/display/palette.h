// Palettes: which tone the cells of a text column have. The one list of them for text, pictures and
// the page. Pure functions; the texts live as long as the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "borescope/table/display/tone.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
