#pragma once

#include <cstdint>
#include <string>

#include "borescope/base/result.h"
#include "borescope/base/sqlite/sqlite.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

// A new database with the tables and columns that are read, and with the texts that their
// rows refer to: nothing is deleted from a copy, since free pages keep what was in them.

struct ScrubbedDatabase {
  uint64_t rows = 0;            // written
  uint64_t dropped_tables = 0;  // that are not read
  uint64_t dropped_texts = 0;   // that no row refers to
};

// Writes `source` to the empty file `path`. Errors: those of reading; kIo. Reads `source` as a
// recording first, to find out what is read of it.
Result<ScrubbedDatabase> ScrubDatabase(SqlDatabase& source, const std::string& path,
                                       Scrubber& scrubber);

}  // namespace borescope::internal
