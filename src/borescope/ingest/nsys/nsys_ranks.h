// Exports of Nsight Systems of a job that was profiled as a whole (nsys profile torchrun ...):
// which of its processes are ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/base/result.h"

namespace borescope::internal {

struct NsysRanks {
  std::vector<int64_t> processes;  // in the order of the ranks: that of their GPUs; empty: no ranks
  std::string refusal;             // why ranks cannot be distinguished; else empty
};

// Ranks are processes that run kernels of NCCL, at least two of them, each with a GPU of its own.
// Nothing for all other files. Where the export has a table of the contexts, the kernels are looked
// at only if several processes have one; without it, the processes of the kernels decide. kIo if
// the file cannot be read.
Result<NsysRanks> FindNsysRanks(const std::string& path);

}  // namespace borescope::internal
