// The shades of tones, the same in pictures, on terminals and on the page of the report
// (web/src/style.css). The palette is that of Okabe and Ito, which people with any kind of colour
// vision can distinguish. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/table/display/tone.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
