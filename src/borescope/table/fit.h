// Makes tables small enough for people to be handed them whole, in a page. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "borescope/table/table.h"

namespace borescope::internal {

// How many of the first rows of `table` take at most `bytes` as text, roughly; `rows` at most.
size_t RowsThatFit(const Table& table, size_t rows, size_t bytes);

// At most about `rows` rows of a table whose rows follow one another in time: of every stretch of
// rows those with the smallest and the largest `value`, so that a line drawn through them has the
// outline of the whole. Without that column: the first rows.
Table Outline(const Table& table, std::string_view value, size_t rows);

// Of a table in preorder with a column `depth`, whose rows are no larger than the row around them:
// the outermost rows, whose sum is the whole, then those with the largest of the columns `values`,
// as many as RowsThatFit would take, in their order. Every row that stays keeps the rows around it.
Table LargestRows(const Table& table, std::span<const std::string> values, size_t rows,
                  size_t bytes);

}  // namespace borescope::internal
