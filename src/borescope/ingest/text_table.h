// A table of texts of a foreign database, to which other tables refer by id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/database_rows.h"
#include "borescope/ingest/row_ids.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

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
