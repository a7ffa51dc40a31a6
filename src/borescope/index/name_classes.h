// The kernel classes of all names of a recording.
#pragma once

#include <vector>

#include "borescope/index/kernel_class.h"
#include "borescope/trace/trace.h"

namespace borescope {

// See TraceIndex::class_of_name.
std::vector<KernelClass> ClassifyNames(const Trace& trace);

}  // namespace borescope
