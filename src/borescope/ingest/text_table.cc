#include "borescope/ingest/text_table.h"

namespace borescope::internal {

Result<void> TextTable::Read(SqlDatabase& database, const DatabaseSchema& schema,
                             std::string_view table, std::string_view id, std::string_view text,
                             StringPool& pool, Diagnostics& diagnostics) {
  table_ = table;
  const std::string_view columns[] = {id, text};
  BS_ASSIGN(TableRows rows, TableRows::Open(database, schema, table, columns, diagnostics));
  return rows.ForEach([&] {
    ids_.Add(rows.Integer(0));
    texts_.push_back(pool.Intern(rows.Text(1)));
  });
}

void TextTable::Finish(Diagnostics& diagnostics) {
  diagnostics.CountMany(Diag::kDuplicateKey, ids_.Finish(), Diagnostics::kNoByte, table_);
}

StringId TextTable::NoText(int64_t id, Diagnostics& diagnostics) const {
  if (id != kMissing) {
    diagnostics.Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                      table_ + " " + std::to_string(id));
  }
  return StringId{0};
}

}  // namespace borescope::internal
