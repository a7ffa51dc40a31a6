#include "borescope/index/syncs/sync_edges.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"
#include "borescope/index/syncs/sync_calls.h"
#include "borescope/index/syncs/sync_finder.h"

namespace borescope::internal {
namespace {

// Classification of runtime calls by name, per string: each is examined once.
class CallNames {
 public:
  explicit CallNames(const Trace& trace) : trace_(trace), meanings_(trace.strings().size()) {}

  struct Meaning {
    bool is_known = false;
    bool is_record = false;
    BlockingCall blocking = BlockingCall::kNone;
  };
  Meaning Of(HostId call) {
    Meaning& meaning = meanings_[trace_.host().name[call.value].value];
    if (!meaning.is_known) {
      const std::string_view name = trace_.Name(call);
      meaning = {true, IsEventRecordName(name), ClassifyBlockingCall(name)};
    }
    return meaning;
  }

 private:
  const Trace& trace_;
  std::vector<Meaning> meanings_;
};

std::span<const DeviceId> StartedBy(const Trace& trace, const Correlation& correlation,
                                    HostId call) {
  const uint32_t detail = trace.host().detail[call.value];
  return detail == kNoDetail ? std::span<const DeviceId>() : correlation.DevicesOf(detail);
}

void Remember(const Trace& trace, std::span<const DeviceId> started, ThreadState& thread) {
  for (const DeviceId id : started) {
    if (IsDeviceWork(trace.device().kind[id.value])) {
      thread.last_stream = trace.device().track[id.value];
      thread.last_is_copy = trace.device().kind[id.value] == DeviceKind::kMemcpy;
      return;
    }
  }
}

// All calls, thread by thread and by time.
void VisitCalls(const Trace& trace, const Correlation& correlation, RecordedSyncs& recorded,
                SyncSink& sink) {
  const HostEvents& host = trace.host();
  CallNames names(trace);
  ThreadState thread;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (row == 0 || host.track[row] != host.track[row - 1]) {
      thread = {};
    }
    if (host.kind[row] != HostKind::kRuntime) {
      continue;
    }
    const HostId call{row};
    const CallNames::Meaning meaning = names.Of(call);
    const std::span<const DeviceId> started = StartedBy(trace, correlation, call);
    bool has_record = false;
    bool is_resolved = false;
    for (const DeviceId id : started) {
      if (trace.device().kind[id.value] == DeviceKind::kSync) {
        is_resolved |= recorded.Add(id, call, thread);
        has_record = true;
      }
    }
    if (!is_resolved) {
      InferSync(call, meaning.blocking, started, thread, sink);
    }
    if (has_record && !is_resolved && meaning.blocking == BlockingCall::kNone) {
      sink.CountUnresolved();
    }
    if (meaning.is_record) {
      thread.record_ns = host.ts_ns[row];
    }
    Remember(trace, started, thread);
  }
}

void VisitOrphans(const Trace& trace, const Correlation& correlation, RecordedSyncs& recorded,
                  SyncEdges& result) {
  ThreadState nobody;
  for (uint32_t row = 0; row < trace.device().size(); ++row) {
    CheckStopAt(row);
    if (trace.device().kind[row] != DeviceKind::kSync) {
      continue;
    }
    result.has_records = true;
    if (!correlation.launch_of[row].valid()) {
      recorded.Add(DeviceId{row}, {}, nobody);
    }
  }
}

auto Key(const SyncEdge& edge) {
  return std::tuple(edge.call, edge.source, edge.target, edge.kind, edge.inferred);
}

void SortEdges(std::vector<SyncEdge>& edges) {
  std::sort(edges.begin(), edges.end(),
            [](const SyncEdge& a, const SyncEdge& b) { return Key(a) < Key(b); });
  const auto same = [](const SyncEdge& a, const SyncEdge& b) {
    return a.call == b.call && a.source == b.source && a.target == b.target;
  };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
}

}  // namespace

void CountUnresolvedWaits(const Trace& trace, const Correlation& correlation,
                          Diagnostics& diagnostics) {
  if (trace.syncs().size() == 0) {
    return;
  }
  const Tracks& tracks = trace.tracks();
  const DeviceEvents& device = trace.device();
  using Stream = std::tuple<int64_t, int64_t, int64_t>;
  std::set<Stream> streams;                       // device, process, number: those with work
  std::set<std::pair<int64_t, int64_t>> devices;  // device, process
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const auto begin = device.kind.begin() + tracks.first_row[track];
    const auto end = device.kind.begin() + tracks.end_row[track];
    if (tracks.kind[track] == TrackKind::kDevice && std::any_of(begin, end, IsDeviceWork)) {
      streams.emplace(tracks.pid[track], tracks.process[track], tracks.tid[track]);
      devices.emplace(tracks.pid[track], tracks.process[track]);
    }
  }
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (device.kind[row] != DeviceKind::kSync || device.detail[row] == kNoDetail) {
      continue;
    }
    const HostId call = correlation.launch_of[row];
    const int64_t waited_ns = call.valid() ? trace.host().dur_ns[call.value] : device.dur_ns[row];
    const std::string_view name = trace.Name(DeviceId{row});
    if (waited_ns <= kNoWaitNs || (name != "Stream Sync" && name != "Context Sync")) {
      continue;
    }
    const uint32_t track = device.track[row].value;
    const bool has_work = name == "Context Sync"
                              ? devices.contains({tracks.pid[track], tracks.process[track]})
                              : streams.contains({tracks.pid[track], tracks.process[track],
                                                  trace.syncs().stream[device.detail[row]]});
    if (!has_work) {
      diagnostics.Count(Diag::kUnresolvedWait, Diagnostics::kNoByte, trace.Name(DeviceId{row}));
    }
  }
}

std::string_view SyncKindName(SyncKind kind) {
  constexpr std::string_view kNames[] = {"event",  "event_query", "stream",
                                         "device", "copy",        "stream_wait"};
  return kNames[static_cast<size_t>(kind)];
}

bool HasNoWaits(const Trace& trace) {
  const ColumnData<DeviceKind>& kinds = trace.device().kind;
  if (std::none_of(kinds.begin(), kinds.end(), IsDeviceWork) ||
      std::find(kinds.begin(), kinds.end(), DeviceKind::kSync) != kinds.end()) {
    return false;
  }
  CallNames names(trace);
  bool has_calls = false;
  for (uint32_t row = 0; row < trace.host().size(); ++row) {
    CheckStopAt(row);
    if (trace.host().kind[row] == HostKind::kRuntime) {
      has_calls = true;
      if (AlwaysBlocks(names.Of(HostId{row}).blocking)) {
        return false;
      }
    }
  }
  return has_calls;
}

namespace {

struct Found {
  SyncEdges syncs;
  std::vector<WaitPair> pairs;
};

Found Find(const Trace& trace, const Correlation& correlation, const StreamOrder& order,
           const DeviceClocks& clocks, int64_t drift_ns) {
  Found found;
  SyncSink sink(trace, order, clocks, drift_ns, found.syncs);
  RecordedSyncs recorded(trace, sink);
  VisitCalls(trace, correlation, recorded, sink);
  VisitOrphans(trace, correlation, recorded, found.syncs);
  SortEdges(found.syncs.edges);
  found.pairs = sink.pairs();
  return found;
}

// Whether the waits are the same with these clocks as with those of the recording.
bool AreAsRecorded(const Trace& trace, const Found& found, const DeviceClocks& clocks) {
  const auto is_backward = [&](const WaitPair& pair) {
    return trace.device().end_ns(pair.work) > trace.host().end_ns(pair.call);
  };
  return std::none_of(clocks.clocks.begin(), clocks.clocks.end(),
                      [](const DeviceClock& clock) { return clock.skew_ns != 0; }) &&
         std::none_of(found.pairs.begin(), found.pairs.end(), is_backward);
}

}  // namespace

SyncEdges FindSyncEdges(const Trace& trace, const Correlation& correlation) {
  return Find(trace, correlation, StreamOrder(trace, correlation), {}, 0).syncs;
}

ClockedSyncs FindClockedSyncs(const Trace& trace, const Correlation& correlation) {
  const StreamOrder order(trace, correlation);
  Found found = Find(trace, correlation, order, {}, 0);
  ClockedSyncs result{EstimateClocks(trace, correlation, found.pairs), {}};
  result.syncs = AreAsRecorded(trace, found, result.clocks)
                     ? std::move(found.syncs)
                     : Find(trace, correlation, order, result.clocks, kMostDriftNs).syncs;
  return result;
}

ClockedSyncs FindSyncsAndClocks(const Trace& trace, const Correlation& correlation) {
  Found found = Find(trace, correlation, StreamOrder(trace, correlation), {}, 0);
  return {EstimateClocks(trace, correlation, found.pairs), std::move(found.syncs)};
}

}  // namespace borescope::internal
