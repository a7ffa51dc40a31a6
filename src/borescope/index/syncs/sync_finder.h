// The two halves of FindSyncEdges: waits as recorded, and waits inferred from the names of calls.
// Internal to index/sync_*.cc.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "borescope/index/id_map.h"
#include "borescope/index/stream_order.h"
#include "borescope/index/syncs/sync_calls.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {

// The state of a thread at one of its calls.
struct ThreadState {
  TrackId last_stream;                   // of the last work it launched; invalid before
  bool last_is_copy = false;             // that was a copy
  int64_t record_ns = kMissing;          // begin of its last event record
  std::map<int64_t, int64_t> synced_ns;  // per device: begin of its last device synchronisation
};

// Common to all waits: the edges found, and how they are added.
class SyncSink {
 public:
  SyncSink(const Trace& trace, const StreamOrder& order, SyncEdges& result);

  const Trace& trace() const { return trace_; }
  const StreamOrder& order() const { return order_; }

  void CountUnresolved() { ++result_.unresolved; }
  // Adds an edge unless it has no source (nothing was issued) or leads backward, which is counted.
  void Add(const SyncEdge& edge);
  // The same for an event that may not have happened: a backward edge is dropped, and not odd.
  void AddIfForward(const SyncEdge& edge);
  // Edges from every stream of the device to the end of the call.
  void AddDevice(int64_t device, HostId call, bool inferred, ThreadState& thread);
  // Whether the stream is one the process of the call can wait for.
  bool IsOfProcess(TrackId stream, HostId call) const;
  // Whether the budget still allows a search of all streams. Bounds the work on traces with very
  // many streams and very many waits.
  bool TakeLook();

 private:
  bool IsForward(const SyncEdge& edge) const;

  const Trace& trace_;
  const StreamOrder& order_;
  SyncEdges& result_;
  uint64_t looks_left_;
};

// Waits of cuda_sync records.
class RecordedSyncs {
 public:
  RecordedSyncs(const Trace& trace, SyncSink& sink);

  // `record`: a device row of kind kSync. `call` is invalid if it was not recorded.
  void Add(DeviceId record, HostId call, ThreadState& thread);

 private:
  struct Event {
    TrackId stream;                // on which it was recorded
    int64_t record_ns = kMissing;  // when; kMissing: unknown
  };

  Event EventOf(DeviceId record, int64_t wait_ns) const;
  void AddEvent(DeviceId record, HostId call, const ThreadState& thread);
  void AddStream(DeviceId record, HostId call);
  void AddStreamWait(DeviceId record, HostId call, const ThreadState& thread);
  TrackId StreamOf(DeviceId record, int64_t stream) const;

  const Trace& trace_;
  SyncSink& sink_;
  IdMap64 records_;  // host row of the cudaEventRecord by its correlation
};

// Adds the edges of a call without a record. `own`: the device rows it started.
void InferSync(HostId call, BlockingCall kind, std::span<const DeviceId> own, ThreadState& thread,
               SyncSink& sink);

}  // namespace borescope::internal
