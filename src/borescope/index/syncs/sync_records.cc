// Waits from cuda_sync records.
#include "borescope/base/stop.h"
#include "borescope/index/launches/correlation.h"
#include "borescope/index/syncs/sync_calls.h"
#include "borescope/index/syncs/sync_finder.h"

namespace borescope::internal {
namespace {

std::vector<uint32_t> RecordCalls(const Trace& trace) {
  const HostEvents& host = trace.host();
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail &&
        IsEventRecordName(trace.Name(HostId{row}))) {
      rows.push_back(row);
    }
  }
  return rows;
}

bool HasSyncs(const Trace& trace) { return trace.syncs().size() != 0; }

IdMap64 MapRecords(const Trace& trace) {
  const std::vector<uint32_t> rows = HasSyncs(trace) ? RecordCalls(trace) : std::vector<uint32_t>();
  IdMap64 records(rows.size());
  for (const uint32_t row : rows) {
    const int64_t number = trace.runtime_calls().correlation[trace.host().detail[row]];
    if (IsCorrelation(number)) {
      records[number] = row;
    }
  }
  return records;
}

}  // namespace

RecordedSyncs::RecordedSyncs(const Trace& trace, SyncSink& sink)
    : trace_(trace), sink_(sink), records_(MapRecords(trace)) {}

TrackId RecordedSyncs::StreamOf(DeviceId record, int64_t stream) const {
  const uint32_t track = trace_.device().track[record.value].value;
  const Tracks& tracks = trace_.tracks();
  return sink_.order().Find(tracks.pid[track], tracks.process[track], stream);
}

bool RecordedSyncs::Add(DeviceId record, HostId call, ThreadState& thread) {
  const std::string_view name = trace_.Name(record);
  const bool has_detail = trace_.device().detail[record.value] != kNoDetail;
  const bool has_call = has_detail && call.valid();
  if (has_call && name == "Event Sync") {
    return AddEvent(record, call, thread);
  }
  if (has_call && name == "Stream Sync") {
    return AddStream(record, call);
  }
  if (has_call && name == "Context Sync") {
    return sink_.AddDevice(trace_.DeviceOf(record), call, false, thread) || !HasWaited(call);
  }
  if (has_detail && name == "Stream Wait Event") {
    AddStreamWait(record, call, thread);
  } else {
    sink_.CountUnresolved();
  }
  return true;
}

RecordedSyncs::Event RecordedSyncs::EventOf(DeviceId record, int64_t wait_ns) const {
  const uint32_t detail = trace_.device().detail[record.value];
  Event event{StreamOf(record, trace_.syncs().wait_on_stream[detail]), kMissing};
  const int64_t number = trace_.syncs().wait_on_record_correlation[detail];
  const uint32_t row = IsCorrelation(number) ? records_.Get(number) : IdMap64::kNone;
  // A record after the wait belongs to another use of the event.
  if (row != IdMap64::kNone && trace_.host().ts_ns[row] <= wait_ns) {
    event.record_ns = trace_.host().ts_ns[row];
  }
  return event;
}

bool RecordedSyncs::AddEvent(DeviceId record, HostId call, const ThreadState& thread) {
  const int64_t begin_ns = trace_.host().ts_ns[call.value];
  const Event event = EventOf(record, begin_ns);
  const bool is_query = IsQueryName(trace_.Name(call));
  if (trace_.syncs().wait_on_stream[trace_.device().detail[record.value]] < 0) {
    if (is_query) {
      sink_.CountUnresolved();
    }
    return is_query;
  }
  if (!event.stream.valid()) {  // no work on that stream
    return is_query || !HasWaited(call);
  }
  SyncEdge edge{is_query ? SyncKind::kEventQuery : SyncKind::kEvent, false, {}, call, {}};
  if (event.record_ns == kMissing) {
    edge.inferred = true;
    edge.source = sink_.order().LastEndedBefore(
        event.stream, thread.record_ns == kMissing ? begin_ns : thread.record_ns,
        sink_.OnStream(event.stream, trace_.host().end_ns(call)));
  } else {
    edge.source = sink_.order().LastBefore(event.stream, event.record_ns);
  }
  is_query ? sink_.AddIfForward(edge) : sink_.Add(edge);
  return true;
}

bool RecordedSyncs::AddStream(DeviceId record, HostId call) {
  const TrackId stream =
      StreamOf(record, trace_.syncs().stream[trace_.device().detail[record.value]]);
  if (!stream.valid()) {
    return !HasWaited(call);
  }
  const DeviceId source = sink_.order().LastBefore(stream, trace_.host().ts_ns[call.value]);
  sink_.Add({SyncKind::kStream, false, source, call, {}});
  return true;
}

void RecordedSyncs::AddStreamWait(DeviceId record, HostId call, const ThreadState& thread) {
  const int64_t wait_ns =
      call.valid() ? trace_.host().ts_ns[call.value] : trace_.device().ts_ns[record.value];
  const TrackId waiting =
      StreamOf(record, trace_.syncs().stream[trace_.device().detail[record.value]]);
  const Event event = EventOf(record, wait_ns);
  if (!waiting.valid() || !event.stream.valid() || waiting == event.stream) {
    return;  // no waiting or awaited work, or already ordered by its stream
  }
  SyncEdge edge{SyncKind::kStreamWait, false, {}, call, sink_.order().FirstFrom(waiting, wait_ns)};
  if (!edge.target.valid()) {
    return;
  }
  if (event.record_ns == kMissing) {
    edge.inferred = true;
    edge.source = sink_.order().LastEndedBefore(
        event.stream, thread.record_ns == kMissing ? wait_ns : thread.record_ns,
        sink_.OnStream(event.stream, sink_.BeginOf(edge.target)));
  } else {
    edge.source = sink_.order().LastBefore(event.stream, event.record_ns);
  }
  sink_.Add(edge);
}

}  // namespace borescope::internal
