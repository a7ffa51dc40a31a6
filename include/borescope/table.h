// Table: the one result type. Cells are in base units (integer nanoseconds, bytes, shares from 0 to
// 1); only front ends scale and round them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "borescope/arrow.h"
#include "borescope/export.h"

namespace borescope {

enum class ColumnType : uint8_t { kInt, kFloat, kText, kBool };

// One column of a table, whose lifetime it shares: views into it are valid as long as any copy of
// the table or the column is.
class BORESCOPE_EXPORT Column {
 public:
  std::string_view name() const;  // ends in its unit: "dur_ns", "size_bytes", "share"
  // "ns", "bytes", "share", ...; empty for none; "row" if the text column `unit` has it for each
  // row.
  std::string_view unit() const;
  // How rows combine when tables merge: "key", "sum", "min", "max" or "derived".
  std::string_view role() const;
  std::string_view doc() const;  // one sentence
  ColumnType type() const;
  size_t size() const;
  bool IsMissing(size_t row) const;

  // The cells. REQUIRES: the matching type, row < size(). A missing cell is 0, empty or false.
  int64_t Int(size_t row) const;
  double Float(size_t row) const;
  std::string_view Text(size_t row) const;
  bool Bool(size_t row) const;
  // All cells of an integer or float column, without a copy. REQUIRES: the matching type.
  std::span<const int64_t> Ints() const;
  std::span<const double> Floats() const;

 private:
  friend class Table;
  friend struct TableAccess;
  struct Data;
  std::shared_ptr<const Data> data_;
};

// Immutable and cheap to copy; safe to read from any number of threads.
class BORESCOPE_EXPORT Table {
 public:
  std::string_view name() const;   // "breakdown"
  std::string_view title() const;  // one line for people
  size_t num_rows() const;
  size_t num_columns() const;
  // REQUIRES: index < num_columns()
  Column column(size_t index) const;
  // Whether there is a column of this name; it is stored in `column` then.
  bool Find(std::string_view name, Column* column) const;

  // The table as a stream of one record batch through the Arrow C stream interface: numbers and the
  // indices of texts without a copy, validity as bitmaps; unit, role and doc of each column and the
  // table's title as metadata (docs/formats/arrow.md). The stream keeps the cells alive. REQUIRES:
  // *out holds nothing that must be released.
  void ExportArrow(ArrowArrayStream* out) const;
  void ExportSchema(ArrowSchema* out) const;

 private:
  friend struct TableAccess;
  struct Data;
  std::shared_ptr<const Data> data_;
};

}  // namespace borescope
