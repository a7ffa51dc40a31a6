#include "borescope/base/row_limit.h"

#include <fmt/format.h>

namespace borescope::internal {

TooManyRows::TooManyRows(std::string_view what)
    : std::length_error(
          fmt::format("more than {} {}, as many as can be numbered; record or select less time, or "
                      "fewer processes",
                      most_rows.load(), what)) {}

}  // namespace borescope::internal
