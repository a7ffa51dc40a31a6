#include "borescope/output/units/timestamps.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/output/units/units.h"
#include "borescope/table/display/view.h"

namespace borescope::internal {
namespace {

bool MayCount(const Column& column) {
  return IsOnClock(column) && column.unit == Unit::kNanoseconds &&
         std::holds_alternative<IntValues>(column.values);
}

bool HasMoment(const Table& table, size_t row) {
  return std::any_of(table.columns.begin(), table.columns.end(), [row](const Column& column) {
    return MayCount(column) && !column.IsMissing(row);
  });
}

// The begin that each row counts from, 0 of those without a moment; nothing where one is not known.
std::optional<IntValues> BeginsOf(const Table& table, std::span<const RankBegin> begins) {
  const Column* const rank = table.Find("rank");
  const auto* const ranks = rank != nullptr ? std::get_if<IntValues>(&rank->values) : nullptr;
  if (ranks == nullptr) {
    return std::nullopt;
  }
  IntValues rows;
  rows.reserve(ranks->size());
  for (size_t row = 0; row < ranks->size(); ++row) {
    const auto found = std::find_if(begins.begin(), begins.end(), [&](const RankBegin& begin) {
      return begin.rank == (*ranks)[row];
    });
    const bool is_known = found != begins.end() && !rank->IsMissing(row);
    if (!is_known && HasMoment(table, row)) {
      return std::nullopt;
    }
    rows.push_back(is_known ? found->begin_ns : 0);
  }
  return rows;
}

// Times beyond any clock stay where they are.
void CountFrom(const IntValues& begins, Column& column) {
  auto& moments = std::get<IntValues>(column.values);
  for (size_t row = 0; row < moments.size(); ++row) {
    int64_t since_ns = 0;
    if (!__builtin_sub_overflow(moments[row], begins[row], &since_ns)) {
      moments[row] = since_ns;
    }
  }
  column.name.resize(column.name.size() - std::string_view("_ns").size());
  column.name += kOffsetSuffix;
}

}  // namespace

Table SinceBegin(Table table, std::span<const RankBegin> begins) {
  if (std::none_of(table.columns.begin(), table.columns.end(), MayCount)) {
    return table;
  }
  const std::optional<IntValues> origins = BeginsOf(table, begins);
  if (!origins.has_value()) {
    return table;
  }
  if (table.Find("elapsed_ns") != nullptr) {
    std::erase_if(table.columns, MayCount);
  }
  for (Column& column : table.columns) {
    if (MayCount(column)) {
      CountFrom(*origins, column);
    }
  }
  return table;
}

}  // namespace borescope::internal
