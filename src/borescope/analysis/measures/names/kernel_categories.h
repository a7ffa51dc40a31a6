// Categories of kernels by the user's own patterns (name_patterns.h), for tables with a row per
// kernel name. They are given at the end, when the rows of all ranks are one, so that each name is
// matched once.
#pragma once

#include "borescope/analysis/measures/names/name_patterns.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Inserts the key column `category` behind the column `name`. REQUIRES: `table` has `name`.
void AddCategories(Table& table, const NamePatterns& patterns);

// kernel_categories: the rows of the finished table `kernels` by category, and by the keys in front
// of the name.
Table CategoryTable(const Table& kernels, const NamePatterns& patterns);

}  // namespace borescope::internal
