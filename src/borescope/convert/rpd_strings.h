// Texts of a rocmProfileData database: numbered when first used, written at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/sqlite.h"
#include "borescope/trace/string_pool.h"

namespace borescope {

// One of its two string tables. Id 1 is the empty text, as its tracer has it.
class RpdStrings {
 public:
  explicit RpdStrings(const StringPool& pool);

  // The id of a text; the same for equal texts.
  int64_t Id(StringId text);
  int64_t Id(std::string_view text);

  // Writes all texts that have an id to the table of that name.
  Result<void> Write(SqlDatabase& database, const std::string& table) const;

 private:
  const StringPool& pool_;
  std::vector<int64_t> id_of_;                          // by StringId; 0: none yet
  std::map<std::string, int64_t, std::less<>> others_;  // texts the trace does not hold
  std::vector<std::string_view> texts_;                 // by id - 1
};

}  // namespace borescope
