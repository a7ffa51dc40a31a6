// Texts of a rocmProfileData database: numbered when first used, written at the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/trace/string_pool.h"

namespace borescope::internal {

// One of its two string tables, which the traces of a file share. Id 1 is the empty text, as its
// tracer has it.
class RpdStrings {
 public:
  // Texts by their ids belong to this pool from now on; it outlives their use.
  void Use(const StringPool& pool);

  // The id of a text; the same for equal texts.
  int64_t Id(StringId text);
  int64_t Id(std::string_view text);

  // Writes all texts that have an id to the table of that name.
  Result<void> Write(const SqlDatabase& database, const std::string& table) const;

 private:
  const StringPool* pool_ = nullptr;  // of the current trace
  std::vector<int64_t> id_of_;        // by its StringId; 0: none yet
  StringPool texts_;                  // by id - 1
};

}  // namespace borescope::internal
