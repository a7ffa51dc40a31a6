// A table as an ArrowArray, and as a stream of one: see export.h.
#pragma once

#include <memory>

#include "borescope/arrow/export.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// A Table as an ArrowArray: a struct with a child for each column, see export.h.

// Whether the columns fit together: all equally long, with a mark for each cell or none, and not
// more texts than an int32 can number. What is exported of others would lead beyond their memory.
Result<void> CheckShape(const Table& table);

// The whole table. The caller releases the array; its values lie in the table, which it keeps
// alive. REQUIRES: CheckShape(*table) is ok.
ArrowArray MakeArray(const std::shared_ptr<const Table>& table, const ExportLimits& limits);

}  // namespace borescope::internal
