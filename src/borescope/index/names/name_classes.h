// The kernel classes of all names of a recording.
#pragma once

#include <vector>

#include "borescope/index/names/kernel_class.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// See TraceIndex::class_of_name.
ColumnData<KernelClass> ClassifyNames(const Trace& trace);

}  // namespace borescope::internal
