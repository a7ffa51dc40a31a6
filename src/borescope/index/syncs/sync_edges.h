// Synchronisation edges: who waits for which device work. From the cuda_sync records of a trace
// where it holds them, else inferred from calls that block until the device has done something.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/index/trace_index.h"

namespace borescope::internal {

enum class SyncKind : uint8_t {
  kEvent,       // a call waits for an event: for the work issued before its record
  kEventQuery,  // a call asks for an event without waiting, and learns that it has happened
  kStream,      // a call waits for a stream
  kDevice,      // a call waits for every stream of a device; an edge for each
  kCopy,        // a call waits for the copy it asked for itself; always inferred
  kStreamWait,  // a stream waits for an event
};
std::string_view SyncKindName(SyncKind kind);

struct SyncEdge {
  SyncKind kind = SyncKind::kEvent;
  bool inferred = false;
  DeviceId source;  // the last device work that is waited for; it ends before the wait does
  // The call whose end waits; of kStreamWait the call that asked for the wait, invalid where it was
  // not recorded.
  HostId call;
  // kStreamWait: the first work behind the wait, whose start waits. Else invalid.
  DeviceId target;
};

struct SyncEdges {
  std::vector<SyncEdge> edges;  // by call, then source, then target; each once
  bool has_records = false;     // the trace holds cuda_sync records
  // Waits that give no edge, beside those for which no work had been issued.
  uint64_t backward = 0;    // the work ends after the wait: clocks, or a lost or wrong record
  SyncEdge first_backward;  // the first of these to be found; without a source if there is none
  uint64_t unresolved = 0;  // what is waited for cannot be known
};

// O((rows + edges) log rows). An edge never leads backward in time: a wait for work that ends after
// it is counted instead. What a device synchronisation waits for that the one before it on its
// thread had waited for already is not repeated.
//
// A call without a record of its own is looked at by its name (CUDA, HIP, Level Zero): a blocking
// copy waits for the copy it asked for if it outlasts it; …DeviceSynchronize for all streams of the
// device its thread used last; …StreamSynchronize for the stream of the copy just before it on its
// thread, else for the stream whose work, all of it, ended last before the call's end;
// …EventSynchronize for what ended last within the call. These edges are marked inferred, as are
// those of event records whose cudaEventRecord is not known: they take the last record of the
// thread before the wait, or the wait itself, for it.
SyncEdges FindSyncEdges(const Trace& trace, const Correlation& correlation);

// Whether the host's waits are missing from a trace: it holds device work and runtime calls, but no
// record of a wait, and no call that waits, beside asynchronous copies, which few programs wait
// for.
bool HasNoWaits(const Trace& trace);

}  // namespace borescope::internal
