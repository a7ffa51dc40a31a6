// What one rank gives to `waits`: all of its calls as for matching (rank_calls.h), and beside them
//   ranks    begin_ns, gpu, grain_ns, world_size
//   calls    dispatch_ns: from the launch, or the end of what its stream ran before, to the begin;
//            the time since the previous call of its group ended (of the first since the recording
//            began) by cause: compute_ns, copy_ns, comm_ns, data_ns, host_ns, sync_ns, launch_ns,
//            device_ns; what is left of it is unknown; selected: 1 where the selection has it
//   compute  rank, begin_ns, end_ns: when kernels compute while a call runs
#pragma once

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

// Columns of `calls`, in the order of LateCause.
inline constexpr std::string_view kGapColumns[] = {
    "compute_ns", "copy_ns", "comm_ns", "data_ns", "host_ns", "sync_ns", "launch_ns", "device_ns"};

Result<Tables> MapWaits(const RankView& view, const Params& params);

// Whether these are tables of one rank that MapWaits gives.
Result<void> CheckWaitTables(const Tables& tables, const Params& params);

}  // namespace borescope::internal
