// Rows of the tables of NVIDIA's profilers, whose columns differ from release to release: what a
// table lacks is missing in every row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/ingest/database.h"
#include "borescope/trace/trace_builder.h"

namespace borescope {

// One pass over one table, in the order it is stored.
class CuptiRows {
 public:
  // No rows when there is no such table. `columns` are those of Integer() and Text(), in order.
  static Result<CuptiRows> Open(const DatabaseInput& input, std::string_view table,
                                std::span<const std::string_view> columns,
                                Diagnostics& diagnostics);

  // Goes to the next row; false behind the last one.
  Result<bool> Next();

  // The whole number of the current row; kMissing for NULL, an empty text and what is none.
  int64_t Integer(int column);
  // The text of the current row, valid until Next(); empty for NULL.
  std::string_view Text(int column);
  // The bytes of a blob (or text) of the current row, valid until Next().
  std::string_view Blob(int column) const { return rows_.Blob(column); }

  std::string_view table() const { return table_; }

 private:
  CuptiRows(std::string_view table, Diagnostics& diagnostics)
      : table_(table), diagnostics_(diagnostics) {}

  int64_t Converted(int column);

  std::string table_;
  Diagnostics& diagnostics_;
  SqlStatement rows_;
  bool is_open_ = false;
};

// The table of strings of a database, addressed by number.
class DatabaseStrings {
 public:
  static Result<DatabaseStrings> Read(const DatabaseInput& input, std::string_view table,
                                      std::string_view id_column, Diagnostics& diagnostics);

  // Invalid when no string has this number.
  StringId Find(int64_t number) const;
  std::string_view Get(StringId id) const { return pool_.Get(id); }
  size_t size() const { return pool_.size(); }

 private:
  void Add(int64_t number, StringId id);

  StringPool pool_;
  std::vector<StringId> dense_;                   // by number, for small ones
  std::unordered_map<int64_t, StringId> sparse_;  // the others
};

// Names of events: strings of the database as they are to be shown, each translated and interned
// into a part once.
class EventNames {
 public:
  using Translate = std::string (*)(std::string_view recorded);

  EventNames(const DatabaseStrings& strings, TracePart& part, Translate translate)
      : strings_(strings), part_(part), translate_(translate) {}

  // Empty, and counted, when the number is missing or no string has it.
  StringId Get(int64_t number);

 private:
  const DatabaseStrings& strings_;
  TracePart& part_;
  Translate translate_;
  std::vector<StringId> names_;  // by id in `strings_`
};

// Counts the rows of every table of events (one with times) that is not among `known`, so that
// nothing recorded is left out in silence.
Result<void> CountOtherTables(const DatabaseInput& input, std::span<const std::string_view> known,
                              TracePart& part);

}  // namespace borescope
