// Cuts tables to a size that fits on a page. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

// The longest name or detail of a box on the timeline of a page, in characters: whole names of
// kernels, as people copy them. Of longer ones the middle is left out.
inline constexpr size_t kLongestBoxText = 10'000;

// How many of the first rows of `table` take roughly at most `bytes` as text; at most `rows`.
size_t RowsThatFit(const Table& table, size_t rows, size_t bytes);

// At most about `rows` rows of a table sorted by time: from every stretch of rows those with the
// smallest and the largest `value`, so that a line drawn through them keeps the outline. Without
// that column: the first rows.
Table Outline(const Table& table, std::string_view value, size_t rows);

// For a table in preorder with a column `depth`, whose rows are no larger than their parent: the
// outermost rows, whose sum is the whole, then those with the largest of the columns `values`, as
// many as RowsThatFit gives, in their order. Every row that stays keeps its ancestors.
Table LargestRows(const Table& table, std::span<const std::string> values, size_t rows,
                  size_t bytes);

}  // namespace borescope::internal
