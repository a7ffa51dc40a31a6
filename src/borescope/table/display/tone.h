// Tones: colours by what they mean, the same in pictures, on terminals and on the page of the
// report: compute blue, communication orange, copies pink, idle grey. The shades are those of
// output/charts/svg_canvas.h. Pure functions; the texts live as long as the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace borescope::internal {

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

}  // namespace borescope::internal
