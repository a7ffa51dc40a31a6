// Table: the one result type. Analyses make tables in base units; writers, Python and the HTML
// report only format them. A Table is a plain value: copy, move and read it from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/table/display/column_hints.h"
#include "borescope/table/string_values.h"

namespace borescope::internal {

// Base unit of a column's values. Only writers scale and abbreviate.
enum class Unit : uint8_t {
  kNone,
  kNanoseconds,
  kBytes,
  kCount,
  kShare,  // 0...1
  kGigabytesPerSecond,
  kFlops,
  kMicroseconds,  // compatibility tables only
  kPercent,       // compatibility tables only
  kOfRow,         // each value has its own, named in the text column `unit`: share, ratio, count
};

// How a column combines when rows with equal keys merge (see MergeByKey).
enum class Role : uint8_t { kKey, kSum, kMin, kMax, kDerived };

// Cell storage of one column; for text see string_values.h.
using IntValues = std::vector<int64_t>;
using FloatValues = std::vector<double>;
using BoolValues = std::vector<char>;  // 0 or 1; vector<bool> has no data()

struct Column {
  std::string name;  // ends in its unit: dur_ns, size_bytes, share
  Unit unit = Unit::kNone;
  Role role = Role::kDerived;
  std::string doc;  // one sentence: becomes tooltip, docs and Arrow metadata
  std::variant<IntValues, FloatValues, StringValues, BoolValues> values;
  std::vector<char> missing;  // empty = every cell has a value; else 1 marks a missing cell
  ColumnHints hints = {};

  size_t size() const;
  bool IsNumber() const {
    return std::holds_alternative<IntValues>(values) || std::holds_alternative<FloatValues>(values);
  }
  bool IsMissing(size_t row) const { return !missing.empty() && missing[row] != 0; }
};

struct Table {
  std::string name;             // contract name: "breakdown"
  std::string title;            // one line for people
  std::vector<Column> columns;  // equal length
  // Tables with a row per event: how many rows text shows by default (see --top). 0 = all. Formats
  // for programs have every row.
  size_t preview_rows = 0;

  size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  const Column* Find(std::string_view column) const;  // nullptr if there is none
  Column* Find(std::string_view column);
};

// Column makers, to keep analyses short. The returned reference is valid until the next Add.
Column& AddInt(Table& table, std::string_view name, Unit unit, Role role, std::string_view doc);
Column& AddFloat(Table& table, std::string_view name, Unit unit, Role role, std::string_view doc);
Column& AddString(Table& table, std::string_view name, Role role, std::string_view doc);
Column& AddBool(Table& table, std::string_view name, Role role, std::string_view doc);

// A column of the same kind and with the same hints without cells, its name prefixed with `prefix`.
Column EmptyLike(const Column& column, std::string_view prefix = {});

// Appends one cell. REQUIRES: the column has the matching type.
void Push(Column& column, int64_t value);
void Push(Column& column, double value);
void Push(Column& column, std::string_view value);
void Push(Column& column, bool value);
// A literal would otherwise convert to bool.
inline void Push(Column& column, const char* value) { Push(column, std::string_view(value)); }
// Appends a missing cell (a zero, an empty text or false, marked as missing).
void PushMissing(Column& column);
template <class T>
void PushOptional(Column& column, const std::optional<T>& value) {
  value.has_value() ? Push(column, *value) : PushMissing(column);
}

// What keeps columns that were read from elsewhere from being a table. Pure.

// What the table has and must not have, in words that follow "has"; empty if nothing: "two columns
// of one name".
std::string FaultOf(const Table& table);

}  // namespace borescope::internal
