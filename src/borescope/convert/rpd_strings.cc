#include "borescope/convert/rpd_strings.h"

namespace borescope {

RpdStrings::RpdStrings(const StringPool& pool) : pool_(pool), id_of_(pool.size(), 0) {
  Id(StringId{0});
}

int64_t RpdStrings::Id(StringId text) {
  int64_t& id = id_of_[text.valid() ? text.value : 0];
  if (id == 0) {
    texts_.push_back(pool_.Get(text));
    id = static_cast<int64_t>(texts_.size());
  }
  return id;
}

int64_t RpdStrings::Id(std::string_view text) {
  if (const StringId pooled = pool_.Find(text); pooled.valid()) {
    return Id(pooled);
  }
  const auto known = others_.find(text);
  if (known != others_.end()) {
    return known->second;
  }
  const auto id = static_cast<int64_t>(texts_.size() + 1);
  texts_.push_back(others_.emplace(text, id).first->first);
  return id;
}

Result<void> RpdStrings::Write(SqlDatabase& database, const std::string& table) const {
  BS_ASSIGN(SqlStatement insert, database.Prepare("INSERT INTO " + table + " VALUES (?, ?)"));
  for (size_t i = 0; i < texts_.size(); ++i) {
    insert.Bind(1, static_cast<int64_t>(i + 1));
    insert.Bind(2, texts_[i]);
    BS_TRY(insert.Run());
  }
  return {};
}

}  // namespace borescope
