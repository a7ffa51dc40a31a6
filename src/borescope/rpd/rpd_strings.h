// Texts of a rocmProfileData database: numbered and written when first used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/sqlite/sqlite.h"
#include "borescope/rpd/row_inserter.h"
#include "borescope/trace/string_pool.h"

namespace borescope::internal {

// One of its two string tables, which the traces of a file share. Id 1 is the empty text, as its
// tracer has it. Errors of writing are kept and given by Flush.
class RpdStrings {
 public:
  RpdStrings() = default;  // for assignment only

  // Writes to the table of that name. `database` must outlive it and not move.
  static Result<RpdStrings> Into(const SqlDatabase& database, std::string_view table);

  // Texts by their ids belong to this pool from now on; it outlives their use.
  void Use(const StringPool& pool);

  // The id of a text; the same for equal texts, which are remembered.
  int64_t Id(StringId text);
  int64_t Id(std::string_view text);

  // A new id for a text that hardly comes again: it is not remembered, so that memory does not grow
  // with the calls of a trace. The table then holds it as often as it is added.
  int64_t Add(std::string_view text);

  // Writes the rows that wait; call it after the last text.
  Result<void> Flush();

 private:
  const StringPool* pool_ = nullptr;  // of the current trace
  std::vector<int64_t> id_of_;        // by its StringId; 0: none yet
  StringPool texts_;                  // those remembered
  std::vector<int64_t> id_of_text_;   // by their number there; 0: none yet
  int64_t last_id_ = 0;
  RowInserter rows_;
  Result<void> written_;  // the first error
};

}  // namespace borescope::internal
