// Kernels that cannot have run as long as recorded: they run over later kernels of their stream.
#pragma once

#include "borescope/base/diagnostics.h"
#include "borescope/trace/string_pool.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Some drivers (AMD's) record a wrong end now and then. In a stream that runs one kernel after the
// other, a kernel that lasts until several later ones have ended is such a case; the kernels in its
// time are right. But streams also overlap for good reasons: branches of a graph, kernels that are
// launched early on purpose (PDL), several queues or streams under one number, communication that
// waits for other ranks. So a kernel is cut only if
//
//  - later kernels of its stream ended in its time, none of its own launch, and it is neither of a
//    graph nor one that waits for others by its name;
//  - few other kernels of the stream overlap, or cover others in the same way;
//  - it lasts many times as long as the other kernels of its name and grid, still more times if
//    only one kernel ended in its time. Where it is the only one of its name: if more kernels ended
//    in its time, no others overlap, and it lasts many times as long as any other kernel of the
//    stream.
//
// It then ends where the next kernel of its stream begins, and is counted (kImpossibleDuration).
// True if anything was cut. REQUIRES: sorted rows. O(rows) if no kernel covers others.
bool CutOverruns(DeviceEvents& device, const Kernels& kernels, const Tracks& tracks,
                 const StringPool& strings, Diagnostics& diagnostics);

}  // namespace borescope::internal
