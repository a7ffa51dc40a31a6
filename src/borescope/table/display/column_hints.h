// ColumnHints: how a column is best shown. Set where a table is made, beside unit and role; text,
// pictures and the page follow them and guess nothing from names.
#pragma once

#include <optional>

#include "borescope/table/display/palette.h"
#include "borescope/table/display/tone.h"

namespace borescope::internal {

struct ColumnHints {
  std::optional<Tone> tone = {};     // of its values in charts; compute if there is none
  Palette palette = Palette::kNone;  // of its cells: they colour the rows of the table
  // Its cells are names, which have no order of their own: bars that they label are sorted by
  // length.
  bool names = false;

  bool operator==(const ColumnHints&) const = default;
};

}  // namespace borescope::internal
