#include "borescope/rpd/rpd_strings.h"

#include "borescope/rpd/row_inserter.h"

namespace borescope::internal {

void RpdStrings::Use(const StringPool& pool) {
  pool_ = &pool;
  id_of_.assign(pool.size(), 0);
}

int64_t RpdStrings::Id(StringId text) {
  int64_t& id = id_of_[text.valid() ? text.value : 0];
  if (id == 0) {
    id = Id(pool_->Get(text));
  }
  return id;
}

int64_t RpdStrings::Id(std::string_view text) { return int64_t{texts_.Intern(text).value} + 1; }

Result<void> RpdStrings::Write(const SqlDatabase& database, const std::string& table) const {
  BS_ASSIGN(RowInserter rows, RowInserter::Into(database, table, 2));
  for (uint32_t i = 0; i < texts_.size(); ++i) {
    BS_TRY(rows.Add(int64_t{i} + 1, texts_.Get(StringId{i})));
  }
  return rows.Flush();
}

}  // namespace borescope::internal
