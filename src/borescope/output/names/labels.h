// Short labels for names that appear together: in a column of a table, beside the bars of a chart.
// Pure functions; labels depend on nothing but the set of names, the width and the font.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "borescope/output/names/label_pieces.h"

namespace borescope::internal {

struct Labels {
  std::vector<std::string> texts;  // of each name
  // Whether pieces of names tell all of them apart: no label had to be numbered.
  bool tell = true;
};

// A label for each of `names` (printable text), at most `width` wide. A name that fits is its own
// label; of others there is what distinguishes them from the rest. First go "void", parameters and
// namespaces, then what they share; last tile sizes, operators and what differs. "…" stands for
// what is left out. Labels of names that differ do, too: where nothing of them fits that does,
// labels end with "#2", "#3" and so on; in less room than these take, labels may be alike.
Labels LabelNames(std::span<const std::string> names, double width, GlyphWidth glyph);

// The same in cells of a terminal.
Labels LabelNames(std::span<const std::string> names, size_t cells);

}  // namespace borescope::internal
