// Scrubs databases by writing a new one with only the tables and columns that are read, and the
// texts that their rows refer to. Deleting from a copy would not do, as free pages keep what was in
// them.
#pragma once

#include <cstdint>
#include <string>

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

struct ScrubbedDatabase {
  uint64_t rows = 0;            // written
  uint64_t dropped_tables = 0;  // tables that are not read
  uint64_t dropped_texts = 0;   // texts that no row refers to
};

// Writes `source` to the empty file `path`. It first reads `source` as a recording, to find out
// what is read. Errors are those of reading, and kIo.
Result<ScrubbedDatabase> ScrubDatabase(SqlDatabase& source, const std::string& path,
                                       Scrubber& scrubber);

}  // namespace borescope::internal
