// What SQLite asks of a relation before it reads: which comparisons the relation makes itself, and
// in which order its rows come. Passed from planning to reading as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/query/row_order.h"

struct sqlite3_index_info;  // NOLINT(readability-identifier-naming): of SQLite

namespace borescope::internal::query {

enum class Comparison : uint8_t { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

struct PlannedFilter {
  uint8_t column;
  Comparison comparison;
};

struct Plan {
  std::vector<PlannedFilter> filters;  // in the order of the values SQLite will pass
  ColumnList order;                    // empty: by rank and id
};

std::string PlanText(const Plan& plan);
// REQUIRES: `text` is from PlanText.
Plan ParsePlan(std::string_view text);

// Fills in the answer to SQLite's question and returns the plan. Comparisons are of integers, and
// of equality of texts; SQLite checks again what passes.
Plan MakePlan(const Relation& relation, Ranks ranks, sqlite3_index_info& question);

}  // namespace borescope::internal::query
