#pragma once

#include "borescope/analysis/core/reduce.h"

namespace borescope::internal {

// Tables of --compat key_averages: what `key_averages().table()` of PyTorch's profiler says of the
// same recording; docs/use/compat-key-averages.md.
//
//   key_averages.cc     the table and its footer
//   profiler_calls.cc   the tree of events that they follow from
//   profiler_memory.cc  allocations outside of all events
//   profiler_flops.cc   FLOPs as `with_flops=True` counts them

Result<Tables> MapKeyAverages(const RankView& view, const Params& params);
Result<Tables> FinishKeyAverages(Tables tables, const Params& params);
inline constexpr Pipeline kKeyAverages{
    .map = MapKeyAverages, .reduce = MergeTables, .finish = FinishKeyAverages};

}  // namespace borescope::internal
