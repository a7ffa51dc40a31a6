// Synchronisation edges: who waits for which device work. From the cuda_sync records of a trace if
// it has any, else inferred from calls that block until the device has done something.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/index/clocks/device_clocks.h"
#include "borescope/index/trace_index.h"

namespace borescope::internal {

enum class SyncKind : uint8_t {
  kEvent,       // a call waits for an event: for the work issued before its record
  kEventQuery,  // a call queries an event without waiting, and finds that it has happened
  kStream,      // a call waits for a stream
  kDevice,      // a call waits for every stream of a device; an edge for each
  kCopy,        // a call waits for the copy it requested itself; always inferred
  kStreamWait,  // a stream waits for an event
};
std::string_view SyncKindName(SyncKind kind);

struct SyncEdge {
  SyncKind kind = SyncKind::kEvent;
  bool inferred = false;
  DeviceId source;  // the last device work that is waited for; it ends before the wait does
  // The call whose end waits; for kStreamWait the call that requested the wait, invalid if it was
  // not recorded.
  HostId call;
  // kStreamWait: the first work after the wait, whose start waits. Else invalid.
  DeviceId target;
};

struct SyncEdges {
  std::vector<SyncEdge> edges;  // by call, then source, then target; each once
  bool has_records = false;     // the trace has cuda_sync records
  // Waits without an edge, except those for which no work had been issued.
  uint64_t backward = 0;    // the work ends after the wait: clocks, or a lost or wrong record
  SyncEdge first_backward;  // the first of these to be found; without a source if there is none
  uint64_t unresolved = 0;  // the target of the wait is unknown
};

// O((rows + edges) log rows). An edge never leads backward in time: a wait for work that ends after
// it is counted instead. Work for which the previous device synchronisation on the thread has
// already waited is not repeated.
//
// A call without a record of its own, or that waited longer than kNoWaitNs with a record of a
// device or stream without work or of an unknown event, is classified by its name (CUDA, HIP, Level
// Zero): a blocking copy waits for the copy it requested if it outlasts it; …DeviceSynchronize for
// all streams of the device its thread used last; …StreamSynchronize for the stream of the copy
// just before it on its thread, else, of the streams whose work had all ended by the end of the
// call, for the one that ended last; …EventSynchronize for the work that ended last during the
// call. These edges are marked inferred, as are those of event records whose cudaEventRecord is
// unknown: the last record of the thread before the wait, or the wait itself, is used for it.
SyncEdges FindSyncEdges(const Trace& trace, const Correlation& correlation);

// The same with the clocks of the devices brought to that of the host, which are estimated from the
// launches and the waits of the recording. A wait for work that still ends at most kMostDriftNs
// after it keeps its edge.
struct ClockedSyncs {
  DeviceClocks clocks;
  SyncEdges syncs;
};
ClockedSyncs FindClockedSyncs(const Trace& trace, const Correlation& correlation);

// The edges by the times as recorded, and the clocks that follow from them.
ClockedSyncs FindSyncsAndClocks(const Trace& trace, const Correlation& correlation);

// A call that blocks and lasts no longer may have found nothing to wait for.
inline constexpr int64_t kNoWaitNs = 20'000;

// Counts recorded waits of the host that lasted longer, for a device or stream on which no work was
// recorded at all: what released them is not known. Nothing is wrong with shorter ones.
void CountUnresolvedWaits(const Trace& trace, const Correlation& correlation,
                          Diagnostics& diagnostics);

// Whether the host's waits are missing from a trace: it holds device work and runtime calls, but no
// record of a wait, and no call that waits, beside asynchronous copies, which few programs wait
// for.
bool HasNoWaits(const Trace& trace);

// What a call waits for, by its name: those of CUDA, HIP, Level Zero, and similar names of others.
enum class BlockingCall : uint8_t { kNone, kEvent, kStream, kDevice, kCopy, kAsyncCopy };

// What a runtime call of this name waits for. Copies: its own work; an asynchronous one does so
// only if the host memory is pageable.
BlockingCall ClassifyBlockingCall(std::string_view name);

// Whether the host waits in such a call, whatever the memory.
constexpr bool AlwaysBlocks(BlockingCall call) {
  return call != BlockingCall::kNone && call != BlockingCall::kAsyncCopy;
}

bool IsEventRecordName(std::string_view name);
bool IsQueryName(std::string_view name);

}  // namespace borescope::internal
