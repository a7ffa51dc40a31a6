// A table of texts of a foreign database, to which other tables refer by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/database.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// RowIds: the ids of a table's rows, for lookups. Ids of databases mostly increase with few gaps,
// so runs of consecutive ids are stored; they are mostly looked up in the order in which they were
// written, so the last run is tried first. For any file, a lookup takes at most O(log rows).

class RowIds {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Adds the id of the next row; rows are numbered from 0.
  void Add(int64_t id) {
    const bool is_above = runs_.empty() || id > runs_.back().Last();
    if (!runs_.empty() && is_above && runs_.back().Offset(id) == runs_.back().count) {
      ++runs_.back().count;
    } else {
      is_sorted_ &= is_above;
      runs_.push_back({id, 1, rows_});
    }
    ++rows_;
  }
  // Call once after all ids were added. Returns how many rows repeat an earlier id; these cannot be
  // found, because the first counts.
  size_t Finish();

  // The row of `id`, kNone if there is none. Caches the position: not thread-safe.
  uint32_t Find(int64_t id) {
    return last_ < runs_.size() && runs_[last_].Has(id) ? runs_[last_].RowOf(id)
                                                        : FindElsewhere(id);
  }

  size_t size() const { return rows_; }

 private:
  struct Run {
    int64_t first;
    uint32_t count;
    uint32_t row;  // of `first`

    int64_t Last() const { return first + (int64_t{count} - 1); }
    // Modulo 2^64: huge for smaller ids.
    uint64_t Offset(int64_t id) const {
      return static_cast<uint64_t>(id) - static_cast<uint64_t>(first);
    }
    bool Has(int64_t id) const { return Offset(id) < count; }
    uint32_t RowOf(int64_t id) const { return row + static_cast<uint32_t>(Offset(id)); }
  };

  uint32_t FindElsewhere(int64_t id);
  void Sort();

  std::vector<Run> runs_;
  size_t last_ = 0;
  uint32_t rows_ = 0;
  bool is_sorted_ = true;
};

class TextTable {
 public:
  // Adds the texts of `table` to those of `part`. `id` and `text` are its columns.
  Result<void> Read(SqlDatabase& database, const DatabaseSchema& schema, std::string_view table,
                    std::string_view id, std::string_view text, TracePart& part) {
    return Read(database, schema, table, id, text, part.data.strings, part.data.diagnostics);
  }
  // To a pool, which the ids that Find and Get give are then of.
  Result<void> Read(SqlDatabase& database, const DatabaseSchema& schema, std::string_view table,
                    std::string_view id, std::string_view text, StringPool& pool,
                    Diagnostics& diagnostics);
  // Call once after all tables were read.
  void Finish(Diagnostics& diagnostics);

  // The text with this id; invalid if there is none.
  StringId Find(int64_t id) {
    const uint32_t row = id == kMissing ? RowIds::kNone : ids_.Find(id);
    return row == RowIds::kNone ? StringId{} : texts_[row];
  }
  // The same; empty if the id is missing, or, counted, if no text has it.
  StringId Get(int64_t id, Diagnostics& diagnostics) {
    const StringId text = Find(id);
    return text.valid() ? text : NoText(id, diagnostics);
  }

 private:
  StringId NoText(int64_t id, Diagnostics& diagnostics) const;

  std::string table_;
  RowIds ids_;
  std::vector<StringId> texts_;
};

}  // namespace borescope::internal
