// A relation: one SQL table, read directly from the columns of the loaded traces. Tables and
// columns are declared once, in the rows of relation.cc and event_relations.cc; schema, values and
// docs/use/sql.md follow from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/index/trace_index.h"
#include "borescope/table/table.h"
#include "borescope/trace/trace.h"

namespace borescope::internal::query {

class JobData;

// Counters that a report has for kernels of a trace, of another run of the program.
struct KernelCounters {
  struct Value {
    std::string_view metric;  // these texts must outlive the database
    std::string_view unit;
    double value = 0;
    std::optional<int64_t> exact = {};  // a whole number that a double does not hold
  };
  struct Kernel {
    uint32_t row = 0;                    // in device_events
    std::string_view source;             // how it came by them
    std::span<const Value> values = {};  // kernels that did the same share them
  };
  std::vector<std::vector<Value>> values;
  std::vector<Kernel> kernels;
  std::vector<uint32_t> ends;  // of the values of each kernel, those of all before included

  // A kernel with values, and the number of all so far. False, and nothing is added, where there
  // would be more rows than can be numbered.
  bool Add(const Kernel& kernel);
  size_t size() const { return ends.empty() ? 0 : ends.back(); }
};

// One loaded rank, with everything that queries use. Everything must outlive the database.
struct RankData {
  int64_t rank = 0;  // kMissing: not known
  std::string_view file;
  const Trace& trace;
  const TraceIndex& index;
  const Diagnostics& diagnostics;
  // Of the rank: what a dead job left. Where there is nothing else, the trace is empty.
  const JobData* job = nullptr;
  bool has_trace = true;
  const KernelCounters* counters = nullptr;  // of reports; nullptr: none
  // Tables of analyses with the columns, and in the order, of those that the database is opened
  // with; empty: no rows of any.
  std::span<const Table> tables = {};
};

// A rank, and the few columns that its trace does not have as such.
struct RankRows {
  explicit RankRows(const RankData& rank);

  const RankData& data;
  const Trace& trace;
  const TraceIndex& index;
  std::vector<uint32_t> range_of_metric;  // per row of Metrics: device row of its range, or kNone
};

enum class CellKind : uint8_t {
  kNull,
  kInt,
  kReal,
  kPooled,  // a StringId of the trace in `number`
  kText,    // text that lives as long as the trace
};

struct Cell {
  CellKind kind = CellKind::kNull;
  int64_t number = 0;
  double real = 0;
  std::string_view text;
};

// The text of a cell, pooled or not.
inline std::string_view TextOf(const Cell& cell, const Trace& trace) {
  return cell.kind == CellKind::kPooled ? trace.Text(StringId{static_cast<uint32_t>(cell.number)})
                                        : cell.text;
}

enum class RelationType : uint8_t { kInteger, kReal, kText };
std::string_view TypeName(RelationType type);  // as in CREATE TABLE

// How many distinct values a column has, for planning.
enum class Spread : uint8_t {
  kFew,   // a few distinct values: gpu, kind
  kMany,  // many: a name, a duration
  kKey,   // nearly one for each row: an id, a correlation number
};

struct ColumnSpec {
  std::string_view name;
  RelationType type;
  Spread spread;
  std::string_view doc;  // one sentence
  Cell (*get)(const RankRows& rank, uint32_t row);
};

struct Relation {
  std::string_view name;
  std::string_view doc;  // one sentence: what a row is
  // The number of rows of the trace from which the relation is made; rows that `keeps` refuses are
  // left out (nullptr: keeps all). Column 0 of every relation is `rank`.
  size_t (*size)(const RankRows& rank);
  bool (*keeps)(const RankRows& rank, uint32_t row);
  std::span<const ColumnSpec> columns;  // all of them
  bool has_ids = true;                  // column 1 is `id`, the row's number here
  bool has_own_ranks = false;           // `rank` is that of the row, not that of the loaded rank
};

inline constexpr size_t kRankColumn = 0;
inline constexpr size_t kIdColumn = 1;  // if the relation has ids
inline bool IsRowNumber(const Relation& relation, size_t column) {
  return relation.has_ids && column == kIdColumn;
}

// All relations of recordings, in the order of the documentation.
std::span<const Relation> Relations();

// Those, and after them a relation for each of `tables`, which analyses give of a rank: rows and
// columns of the table, whose first column is the rank. The tables must outlive them; their rows do
// not matter. REQUIRES: at most kMostTables tables of at most kMostTableColumns columns.
class RelationList {
 public:
  explicit RelationList(std::span<const Table> tables);

  std::span<const Relation> all() const { return all_; }

 private:
  std::vector<std::vector<ColumnSpec>> columns_;
  std::vector<Relation> all_;
};
inline constexpr size_t kMostTables = 4;
inline constexpr size_t kMostTableColumns = 40;

// A table made from others by a SELECT.
struct ViewSpec {
  std::string_view name;
  std::string_view doc;
  std::string_view sql;
};
std::span<const ViewSpec> Views();

}  // namespace borescope::internal::query
