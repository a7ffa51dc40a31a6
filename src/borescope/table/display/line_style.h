// How text shows a table where it is not fitted to the terminal: a heading and a line per row, all
// of them, with values as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace borescope::internal {

enum class LineForm : uint8_t {
  kNone,    // fitted
  kSpaced,  // one blank between values
  kFixed,   // columns of given widths, one blank after each: text at the left and cut, numbers at
            // the right and never cut
  kQuoted,  // each value in double quotes, with commas between them
  kBare,    // one blank between values, and no heading
};

struct LineStyle {
  LineForm form = LineForm::kNone;
  std::string table = {};           // which table; others are fitted
  std::vector<size_t> widths = {};  // of kFixed: code points, by column
};

}  // namespace borescope::internal
