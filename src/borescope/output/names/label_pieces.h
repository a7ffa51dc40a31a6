// One name as a label of limited width: which of its pieces stay. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/names/branches.h"
#include "borescope/output/names/name_tokens.h"

namespace borescope::internal {

// How wide a character is, in any unit: cells of a terminal, parts of a font's size.
using GlyphWidth = double (*)(char32_t);

inline constexpr std::string_view kLabelMark = "\xE2\x80\xA6";  // for what is left out
inline constexpr double kWidthRounding = 1e-6;                  // of sums of widths

// The width of a whole text.
double WidthBy(GlyphWidth glyph, std::string_view text);

// The longest beginning of a text that is at most so wide.
std::string_view BeginWithin(GlyphWidth glyph, std::string_view text, double width);

// What a label of a name should show.
struct LabelWish {
  const NameText& name;
  Branches first;    // bytes that tell it from others: before all else, in this order
  Branches telling;  // bytes that should show next
  size_t round = 0;  // how often it looked like another before: pieces become smaller
};

// At most `width` wide: pieces of the name in order, with "…" where something between them is left
// out. Empty where not even a character and the mark fit.
std::string MakeLabel(const LabelWish& wish, GlyphWidth glyph, double width);

}  // namespace borescope::internal
