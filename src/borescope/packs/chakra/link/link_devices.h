// Under which node of the host trace device work hangs, and what waits for it.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/index/syncs/sync_edges.h"
#include "borescope/index/trace_index.h"
#include "borescope/packs/chakra/link/link_hosts.h"
#include "borescope/packs/chakra/link/link_plan.h"
#include "borescope/trace/trace.h"

namespace borescope::internal::chakra {

struct DeviceMatch {
  std::vector<uint32_t> device_of_row;  // row of LinkPlan::devices of each device row, or kNoRow
  std::vector<uint32_t> row_of_device;
  std::vector<int64_t> rank;  // as HostMatch::rank_of_node, of LinkPlan::devices
};

// Adds device work under the innermost node around its launch, or around its operator where the
// launch is not recorded, in the order of nodes and then of time. Counts what is linked and not.
DeviceMatch AddDevices(const Trace& trace, const TraceIndex& index, const HostMatch& match,
                       LinkPlan& plan);

// Adds what device work waits for: what came before it on its stream, and work of other streams
// that its stream waited for.
void AddDeviceDeps(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
                   DeviceMatch& devices, LinkPlan& plan);

// Adds which nodes wait for device work: the first one of the thread that begins after the call
// that waited. A question about an event (cudaEventQuery) is no wait. REQUIRES: AddDeviceDeps.
void AddSyncs(const Trace& trace, const SyncEdges& syncs, const HostMatch& match,
              const DeviceMatch& devices, LinkPlan& plan);

}  // namespace borescope::internal::chakra
