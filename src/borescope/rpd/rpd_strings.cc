#include "borescope/rpd/rpd_strings.h"

namespace borescope::internal {

Result<RpdStrings> RpdStrings::Into(const SqlDatabase& database, std::string_view table) {
  RpdStrings strings;
  BS_ASSIGN(strings.rows_, RowInserter::Into(database, table, 2));
  strings.Id(std::string_view());
  return strings;
}

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

int64_t RpdStrings::Id(std::string_view text) {
  const uint32_t number = texts_.Intern(text).value;
  if (number >= id_of_text_.size()) {
    id_of_text_.resize(number + 1, 0);
  }
  int64_t& id = id_of_text_[number];
  if (id == 0) {
    id = Add(text);
  }
  return id;
}

int64_t RpdStrings::Add(std::string_view text) {
  last_id_ += 1;
  if (written_.ok()) {
    written_ = rows_.Add(last_id_, text);
  }
  return last_id_;
}

Result<void> RpdStrings::Flush() {
  BS_TRY(written_);
  return rows_.Flush();
}

}  // namespace borescope::internal
