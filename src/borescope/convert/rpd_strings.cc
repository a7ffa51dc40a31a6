#include "borescope/convert/rpd_strings.h"

namespace borescope {

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

Result<void> RpdStrings::Write(SqlDatabase& database, const std::string& table) const {
  BS_ASSIGN(SqlStatement insert, database.Prepare("INSERT INTO " + table + " VALUES (?, ?)"));
  for (uint32_t i = 0; i < texts_.size(); ++i) {
    insert.Bind(1, int64_t{i} + 1);
    insert.Bind(2, texts_.Get(StringId{i}));
    BS_TRY(insert.Run());
  }
  return {};
}

}  // namespace borescope
