#include "borescope/query/plan.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <optional>

namespace borescope::internal::query {
namespace {

// Numbers of columns and comparisons as printable characters.
constexpr char kZero = '!';
constexpr char kEndOfFilters = ' ';

struct OperatorRow {
  unsigned char sqlite;
  Comparison comparison;
};
constexpr OperatorRow kOperators[] = {{SQLITE_INDEX_CONSTRAINT_EQ, Comparison::kEqual},
                                      {SQLITE_INDEX_CONSTRAINT_LT, Comparison::kLess},
                                      {SQLITE_INDEX_CONSTRAINT_LE, Comparison::kLessOrEqual},
                                      {SQLITE_INDEX_CONSTRAINT_GT, Comparison::kGreater},
                                      {SQLITE_INDEX_CONSTRAINT_GE, Comparison::kGreaterOrEqual}};

std::optional<Comparison> ComparisonOf(unsigned char sqlite) {
  const auto* const row = std::find_if(std::begin(kOperators), std::end(kOperators),
                                       [&](const OperatorRow& r) { return r.sqlite == sqlite; });
  return row == std::end(kOperators) ? std::nullopt : std::optional(row->comparison);
}

// The filter behind one constraint, if the relation can make it.
std::optional<PlannedFilter> FilterOf(const Relation& relation, sqlite3_index_info& question,
                                      int constraint) {
  const auto& asked = question.aConstraint[constraint];
  const std::optional<Comparison> comparison = ComparisonOf(asked.op);
  if (asked.usable == 0 || asked.iColumn < 0 || !comparison.has_value()) {
    return std::nullopt;
  }
  const ColumnSpec& column = relation.columns[static_cast<size_t>(asked.iColumn)];
  const bool is_text = column.type == ColumnType::kText;
  if (column.type == ColumnType::kReal || (is_text && *comparison != Comparison::kEqual) ||
      (is_text && std::string_view(sqlite3_vtab_collation(&question, constraint)) != "BINARY")) {
    return std::nullopt;
  }
  return PlannedFilter{static_cast<uint8_t>(asked.iColumn), *comparison};
}

bool IsSearch(const Relation& relation, const PlannedFilter& filter) {
  return filter.comparison == Comparison::kEqual && filter.column != kRankColumn &&
         relation.columns[filter.column].spread != Spread::kFew;
}

bool IsKeySearch(const Relation& relation, const PlannedFilter& filter) {
  return IsSearch(relation, filter) && relation.columns[filter.column].spread == Spread::kKey;
}

// Guesses; planning needs their order only.
double ShareOf(const Relation& relation, size_t ranks, const PlannedFilter& filter, double rows) {
  if (filter.comparison != Comparison::kEqual) {
    return 0.3;
  }
  if (filter.column == kRankColumn) {
    return 1.0 / static_cast<double>(std::max<size_t>(1, ranks));
  }
  switch (relation.columns[filter.column].spread) {
    case Spread::kFew:
      return 0.1;
    case Spread::kMany:
      return 0.005;
    case Spread::kKey:
      return std::min(1.0, 2.0 * static_cast<double>(ranks) / rows);
  }
  return 1.0;
}

void Estimate(const Relation& relation, Ranks ranks, const Plan& plan,
              sqlite3_index_info& question) {
  double all = 1;
  for (const RankRows& rank : ranks) {
    all += static_cast<double>(relation.size(rank));
  }
  double rows = all;
  for (const PlannedFilter& filter : plan.filters) {
    rows *= ShareOf(relation, ranks.size(), filter, all);
  }
  const bool is_search =
      std::any_of(plan.filters.begin(), plan.filters.end(),
                  [&](const PlannedFilter& filter) { return IsSearch(relation, filter); });
  constexpr double kCostOfSkipping = 0.2;  // against 1 for a row that SQLite gets to see
  constexpr double kCostOfSearch = 5;
  question.estimatedCost = rows + (is_search ? kCostOfSearch : kCostOfSkipping * all);
  question.estimatedRows = std::max<sqlite3_int64>(1, static_cast<sqlite3_int64>(rows));
}

// Whether rows by rank and id come in the order that is asked for.
bool IsNaturalOrder(const Relation& relation, const sqlite3_index_info& question, size_t ranks) {
  if (!relation.has_ids) {
    return false;
  }
  const std::array<int, 2> natural = {static_cast<int>(kRankColumn), static_cast<int>(kIdColumn)};
  size_t place = ranks == 1 && question.aOrderBy[0].iColumn == natural[1] ? 1 : 0;
  for (int i = 0; i < question.nOrderBy; ++i, ++place) {
    if (place == natural.size() || question.aOrderBy[i].desc != 0 ||
        question.aOrderBy[i].iColumn != natural.at(place)) {
      return false;
    }
  }
  return true;
}

// The columns of a GROUP BY or DISTINCT that rows may come sorted by; none where SQLite has to
// sort. (An ORDER BY alone is left to it: with a LIMIT it keeps few rows.)
ColumnList GroupOrder(const Relation& relation, const Plan& plan, sqlite3_index_info& question) {
  constexpr int kMostColumns = 4;
  const bool few = std::any_of(plan.filters.begin(), plan.filters.end(),
                               [&](const auto& filter) { return IsKeySearch(relation, filter); });
  if (few || sqlite3_vtab_distinct(&question) == 0 || question.nOrderBy > kMostColumns) {
    return {};
  }
  ColumnList columns;
  for (int i = 0; i < question.nOrderBy; ++i) {
    const auto& asked = question.aOrderBy[i];
    if (asked.desc != 0 || asked.iColumn < 0 ||
        !IsSortable(relation.columns[static_cast<size_t>(asked.iColumn)])) {
      return {};
    }
    columns.push_back(static_cast<uint8_t>(asked.iColumn));
  }
  return columns;
}

}  // namespace

std::string PlanText(const Plan& plan) {
  std::string text;
  for (const PlannedFilter& filter : plan.filters) {
    text += static_cast<char>(kZero + filter.column);
    text += static_cast<char>(kZero + static_cast<int>(filter.comparison));
  }
  text += kEndOfFilters;
  for (const uint8_t column : plan.order) {
    text += static_cast<char>(kZero + column);
  }
  return text;
}

Plan ParsePlan(std::string_view text) {
  Plan plan;
  size_t at = 0;
  for (; text[at] != kEndOfFilters; at += 2) {
    plan.filters.push_back(
        {static_cast<uint8_t>(text[at] - kZero), static_cast<Comparison>(text[at + 1] - kZero)});
  }
  for (++at; at < text.size(); ++at) {
    plan.order.push_back(static_cast<uint8_t>(text[at] - kZero));
  }
  return plan;
}

Plan MakePlan(const Relation& relation, Ranks ranks, sqlite3_index_info& question) {
  Plan plan;
  for (int i = 0; i < question.nConstraint; ++i) {
    if (const auto filter = FilterOf(relation, question, i); filter.has_value()) {
      plan.filters.push_back(*filter);
      question.aConstraintUsage[i].argvIndex = static_cast<int>(plan.filters.size());
    }
  }
  Estimate(relation, ranks, plan, question);
  if (question.nOrderBy > 0) {
    if (IsNaturalOrder(relation, question, ranks.size())) {
      question.orderByConsumed = 1;
    } else {
      plan.order = GroupOrder(relation, plan, question);
      question.orderByConsumed = plan.order.empty() ? 0 : 1;
    }
  }
  return plan;
}

}  // namespace borescope::internal::query
