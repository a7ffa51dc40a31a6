#include "borescope/packs/chakra/link/link.h"

#include "borescope/index/syncs/sync_edges.h"
#include "borescope/packs/chakra/link/link_devices.h"
#include "borescope/packs/chakra/link/link_errors.h"
#include "borescope/packs/chakra/link/link_hosts.h"

namespace borescope::internal::chakra {
namespace {

// Needs the ids, which are known once all device work has its place.
void SetThreadDeps(const std::vector<uint32_t>& waits, LinkPlan& plan) {
  for (uint32_t node = 0; node < waits.size(); ++node) {
    if (waits[node] != kNoRow) {
      plan.hosts[node].inter_thread_dep = plan.IdOf(waits[node]);
      plan.counts.thread_deps += 1;
    }
  }
}

void CountHosts(LinkPlan& plan) {
  plan.counts.host_nodes = plan.hosts.size();
  for (const LinkedHost& host : plan.hosts) {
    plan.counts.host_matched += host.is_matched ? 1 : 0;
  }
}

}  // namespace

Result<LinkPlan> LinkTrace(const HostTrace& host, const Trace& trace, const TraceIndex& index) {
  LinkPlan plan;
  plan.hosts.resize(host.nodes.size());
  const HostMatch match = MatchHosts(host, trace, index.tree, plan.counts);
  SetHostTimes(trace, index.tree, match, plan);
  CountHosts(plan);
  DeviceMatch devices = AddDevices(trace, index, match, plan);
  BS_TRY(CheckLinked(plan.counts));
  SetThreadDeps(FindThreadWaits(trace, match), plan);
  const SyncEdges syncs = FindSyncEdges(trace, index.correlation);
  plan.counts.has_sync_records = syncs.has_records;
  AddDeviceDeps(trace, syncs, match, devices, plan);
  AddSyncs(trace, syncs, match, devices, plan);
  return plan;
}

}  // namespace borescope::internal::chakra
