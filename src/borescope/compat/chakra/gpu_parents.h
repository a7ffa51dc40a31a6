// Under which operator device work hangs, by the rules of the reference linker.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/compat/chakra/cpu_ops.h"

namespace borescope::internal::chakra::compat {

// Events of device work in time order, by the external id of the operator that launched them.
using GpuOfOp = HashMap<int64_t, std::vector<uint32_t>>;

// The launch is the runtime call of the same correlation, the operator the last one of its thread
// that began before it and has the external id of the work, else the last one at all. Work without
// either is in no list.
GpuOfOp GroupGpuOps(const DeviceTrace& trace, const SortedOps& ops);

}  // namespace borescope::internal::chakra::compat
