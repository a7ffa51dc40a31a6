// The two halves of FindSyncEdges: waits as recorded, and waits inferred from the names of calls.
// Internal to index/sync_*.cc.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

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
  // `clocks` are those of the devices; work may end `drift_ns` after what waits for it.
  SyncSink(const Trace& trace, const StreamOrder& order, const DeviceClocks& clocks,
           int64_t drift_ns, SyncEdges& result);

  const Trace& trace() const { return trace_; }
  const StreamOrder& order() const { return order_; }

  void CountUnresolved() { ++result_.unresolved; }
  // Begin and end of work on the clock of the host.
  int64_t BeginOf(DeviceId work) const;
  int64_t EndOf(DeviceId work) const;
  // A time of the host on the clock of the stream.
  int64_t OnStream(TrackId stream, int64_t host_ns) const {
    return host_ns - clocks_.SkewOf(stream);
  }

  // Adds an edge unless it has no source (nothing was issued) or leads backward, which is counted.
  void Add(const SyncEdge& edge);
  // The same without counting. Gives whether there is an edge.
  bool AddIfWaited(const SyncEdge& edge);
  // The same for an event that may not have happened: it is dropped if it leads back at all.
  void AddIfForward(const SyncEdge& edge);
  // Calls that waited for work, also where the times contradict it.
  const std::vector<WaitPair>& pairs() const { return pairs_; }
  // Edges from every stream of the device to the end of the call. False if none has work.
  bool AddDevice(int64_t device, HostId call, bool inferred, ThreadState& thread);
  // Whether the stream is one the process of the call can wait for.
  bool IsOfProcess(TrackId stream, HostId call) const;
  // Whether the budget still allows a search of all streams. Bounds the work on traces with very
  // many streams and very many waits.
  bool TakeLook();

 private:
  bool IsForward(const SyncEdge& edge, int64_t drift_ns) const;
  // Remembers a call that surely waited.
  void Note(const SyncEdge& edge);

  const Trace& trace_;
  const StreamOrder& order_;
  const DeviceClocks& clocks_;
  int64_t drift_ns_;
  SyncEdges& result_;
  std::vector<WaitPair> pairs_;
  uint64_t looks_left_;
};

// Waits of cuda_sync records.
class RecordedSyncs {
 public:
  RecordedSyncs(const Trace& trace, SyncSink& sink);

  // `record`: a device row of kind kSync. `call` is invalid if it was not recorded. False if the
  // record does not tell what the call waited for, though it waited.
  bool Add(DeviceId record, HostId call, ThreadState& thread);

 private:
  struct Event {
    TrackId stream;                // on which it was recorded
    int64_t record_ns = kMissing;  // when; kMissing: unknown
  };

  Event EventOf(DeviceId record, int64_t wait_ns) const;
  bool AddEvent(DeviceId record, HostId call, const ThreadState& thread);
  bool AddStream(DeviceId record, HostId call);
  void AddStreamWait(DeviceId record, HostId call, const ThreadState& thread);
  TrackId StreamOf(DeviceId record, int64_t stream) const;
  // Whether a call lasts so long that it has waited for something.
  bool HasWaited(HostId call) const { return trace_.host().dur_ns[call.value] > kNoWaitNs; }

  const Trace& trace_;
  SyncSink& sink_;
  IdMap64 records_;  // host row of the cudaEventRecord by its correlation
};

// Adds the edges of a call without a record. `own`: the device rows it started.
void InferSync(HostId call, BlockingCall kind, std::span<const DeviceId> own, ThreadState& thread,
               SyncSink& sink);

}  // namespace borescope::internal
