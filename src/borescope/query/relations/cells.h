// Functions that make cells, and short words for the rows of the relations.
#pragma once

#include "borescope/query/relations/relation.h"

namespace borescope::internal::query {

inline constexpr RelationType kInteger = RelationType::kInteger;
inline constexpr RelationType kReal = RelationType::kReal;
inline constexpr RelationType kText = RelationType::kText;
inline constexpr Spread kFew = Spread::kFew;
inline constexpr Spread kMany = Spread::kMany;
inline constexpr Spread kKey = Spread::kKey;

inline Cell Null() { return {}; }

// NULL if nothing was recorded.
inline Cell Int(int64_t value) {
  return value == kMissing ? Cell{} : Cell{CellKind::kInt, value, 0, {}};
}

// NULL for negative numbers, which mean "not recorded" in narrow columns.
inline Cell Positive(int64_t value) { return value < 0 ? Cell{} : Int(value); }

inline Cell Real(double value) { return {CellKind::kReal, 0, value, {}}; }

// A row number; NULL if there is none.
inline Cell RowId(uint32_t row) { return row == kNoDetail ? Cell{} : Int(row); }

inline Cell Bool(bool value) { return Int(value ? 1 : 0); }

inline Cell Text(std::string_view text) { return {CellKind::kText, 0, 0, text}; }

inline Cell Pooled(StringId id) { return {CellKind::kPooled, id.valid() ? id.value : 0, 0, {}}; }

// NULL for the empty text, which means "not recorded" in most columns.
inline Cell PooledOrNull(StringId id) { return !id.valid() || id.value == 0 ? Cell{} : Pooled(id); }

inline Cell TextOrNull(std::string_view text) { return text.empty() ? Cell{} : Text(text); }

// The sum of a start and a length, which both come from files.
inline int64_t EndOf(int64_t ts_ns, int64_t dur_ns) {
  int64_t end = 0;
  return __builtin_add_overflow(ts_ns, dur_ns, &end) ? std::numeric_limits<int64_t>::max() : end;
}

// A column of a table of the trace: a member of its struct, and the function that makes cells of
// its values.
template <auto kTable, auto kMember, auto kMake>
Cell Get(const RankRows& rank, uint32_t row) {
  return kMake(((rank.trace.*kTable)().*kMember)[row]);
}

template <auto kTable>
size_t SizeOf(const RankRows& rank) {
  return (rank.trace.*kTable)().size();
}

// The first column of every relation.
inline constexpr ColumnSpec kRank = {
    "rank", kInteger, kFew, "Rank of the process.",
    [](const RankRows& rank, uint32_t) { return Int(rank.data.rank); }};

constexpr ColumnSpec IdSpec(std::string_view doc) {
  return {"id", kInteger, kKey, doc, [](const RankRows&, uint32_t row) { return Int(row); }};
}

// The relations, grouped by what they show of a run.
std::span<const Relation> HostRelations();
std::span<const Relation> DeviceRelations();
std::span<const Relation> EventRelations();
std::span<const Relation> DetailRelations();
std::span<const Relation> ThreadRelations();
std::span<const Relation> RunRelations();
std::span<const Relation> JobRelations();

}  // namespace borescope::internal::query
