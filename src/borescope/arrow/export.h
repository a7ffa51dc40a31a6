// Tables leave through the Arrow C data interface (borescope/arrow.h), which pyarrow, polars,
// DuckDB and others read. A table becomes one record batch: a struct with a child for each column.
//
//   column  Arrow type                        where the values are
//   int     int64                             in the table
//   float   float64, NaN included             in the table
//   text    dictionary: int32 to utf8 *)      the int32 in the table; a copy of the distinct texts
//   bool    boolean                           a copy, eight cells a byte
//   *) large_utf8, where the distinct texts need more than 2 GiB
//
// Missing cells are null: a column that has some gets a bitmap, others get none. Text is valid
// UTF-8, whatever it was before. docs/formats/arrow.md names the metadata of fields and schema.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "borescope/arrow.h"
#include "borescope/table/table.h"

namespace borescope::internal {

struct ExportLimits {
  // The distinct texts of a column become large_utf8 when they have more bytes than this. Tests
  // lower it; nobody has another reason to.
  uint64_t utf8_bytes = std::numeric_limits<int32_t>::max();
};

// Makes `*out` a stream of one batch: all of `table`. Whatever `*out` was before is overwritten and
// not released. Nothing is copied before get_next is called.
//
// Ownership: the caller releases `*out`, and each schema and array that it gives. All of them are
// independent of each other. Every array, and every column moved out of one, keeps the table alive
// until it is released; a dictionary moved out of its column is a copy and does not.
//
// Threads: the stream is used by one thread at a time; arrays are read, and released, by any.
//
// Failures are reported by get_next (EINVAL for a table whose columns do not fit together, ENOMEM)
// and get_last_error; the same call may be tried again. The callbacks throw nothing. ExportTable
// itself throws std::bad_alloc without memory for the stream, and leaves `*out` as it was.
//
// REQUIRES: `table` is not null, and nobody changes it from now on.
void ExportTable(std::shared_ptr<const Table> table, ArrowArrayStream* out,
                 const ExportLimits& limits = {});

// Makes `*out` the type of what ExportTable gives for `table` under the same limits. It holds
// copies and does not need the table any more. The caller releases it. Whatever `*out` was before
// is overwritten and not released. Throws std::bad_alloc without memory, and leaves `*out` as it
// was.
void ExportSchema(const Table& table, ArrowSchema* out, const ExportLimits& limits = {});

}  // namespace borescope::internal
