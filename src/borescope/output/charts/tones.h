// Colours by what they mean, the same in pictures, on terminals and on the page of the report
// (web/src/colours.ts): compute blue, communication orange, copies pink, idle grey. The palette is
// that of Okabe and Ito, which people with any kind of colour vision can tell apart. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
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
  kFlameAnnotation,
  kFlameOp,
  kFlamePython,
  kFlameKernel,
  kFlameCopy,
  kFlameOther,
  kInk,    // text
  kQuiet,  // text that steps back
  kLine,   // grids
  kPaper,
  kCount
};

struct ToneRow {
  Tone tone;
  std::string_view name;  // in class names of pictures
  std::string_view light;
  std::string_view dark;
  uint8_t cube = 0;  // among the 256 colours of terminals
};
const ToneRow& GetToneRow(Tone tone);

// What a column or a kind of work is about; compute where its name says nothing else.
Tone ToneOf(std::string_view name);

// Of a bar that is named after device work, or else of what its value or table is about.
Tone BarTone(std::string_view work, std::string_view value, std::string_view table);

// Lines of one chart, told apart by order.
inline constexpr size_t kMostLines = 8;
Tone LineTone(size_t index);

}  // namespace borescope::internal
