// Short labels for names that appear together: in a column of a table, beside the bars of a chart.
// Pure functions; labels depend on nothing but the set of names, the width and the font.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/output/names/name_tokens.h"

namespace borescope::internal {

// Where texts of one set part. Pure functions.

using Branches = std::vector<uint32_t>;  // bytes of one text, rising

// For each text the bytes at which others that begin like it go on differently: the places of a
// tree of all texts where its path forks. Of many the first and the last ones. Time and memory grow
// with the bytes of all texts. REQUIRES: `texts` are sorted and none is there twice.
std::vector<Branches> FindBranches(std::span<const std::string_view> texts);

// One name as a label of limited width: which of its pieces stay. One thread at a time.

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

struct Labels {
  std::vector<std::string> texts;  // of each name
  // Whether pieces of names tell all of them apart: no label had to be numbered.
  bool tell = true;
};

// A label for each of `names` (printable text), at most `width` wide. A name that fits is its own
// label; of others there is what distinguishes them from the rest. First go "void", parameters and
// namespaces, then what they share; last tile sizes, operators and what differs. "…" marks
// what is left out. Labels of names that differ do, too: where nothing of them fits that does,
// labels end with "#2", "#3" and so on; in less room than these take, labels may be alike.
Labels LabelNames(std::span<const std::string> names, double width, GlyphWidth glyph);

// The same in cells of a terminal.
Labels LabelNames(std::span<const std::string> names, size_t cells);

}  // namespace borescope::internal
