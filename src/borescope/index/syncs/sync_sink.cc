#include "borescope/index/syncs/sync_finder.h"

namespace borescope::internal {
namespace {

// Searches of a stream for waits for all streams: enough for every known recording.
constexpr uint64_t kLooksPerRow = 64;

}  // namespace

SyncSink::SyncSink(const Trace& trace, const StreamOrder& order, SyncEdges& result)
    : trace_(trace),
      order_(order),
      result_(result),
      looks_left_(kLooksPerRow * (trace.host().size() + trace.device().size())) {}

bool SyncSink::TakeLook() {
  if (looks_left_ == 0) {
    return false;
  }
  --looks_left_;
  return true;
}

bool SyncSink::IsForward(const SyncEdge& edge) const {
  const int64_t waits_ns = edge.kind == SyncKind::kStreamWait
                               ? trace_.device().ts_ns[edge.target.value]
                               : trace_.host().end_ns(edge.call);
  return trace_.device().end_ns(edge.source) <= waits_ns;
}

void SyncSink::AddIfForward(const SyncEdge& edge) {
  if (edge.source.valid() && IsForward(edge)) {
    result_.edges.push_back(edge);
  }
}

void SyncSink::Add(const SyncEdge& edge) {
  if (edge.source.valid() && !IsForward(edge)) {
    if (result_.backward++ == 0) {
      result_.first_backward = edge;
    }
    return;
  }
  AddIfForward(edge);
}

bool SyncSink::IsOfProcess(TrackId stream, HostId call) const {
  const int64_t process = trace_.tracks().process[stream.value];
  return process == kMissing ||
         process == trace_.tracks().pid[trace_.host().track[call.value].value];
}

void SyncSink::AddDevice(int64_t device, HostId call, bool inferred, ThreadState& thread) {
  const int64_t begin_ns = trace_.host().ts_ns[call.value];
  const auto [synced, is_first] = thread.synced_ns.try_emplace(device, kMissing);
  for (const TrackId stream : order_.streams()) {
    if (trace_.tracks().pid[stream.value] != device || !IsOfProcess(stream, call)) {
      continue;
    }
    if (!TakeLook()) {
      CountUnresolved();
      break;
    }
    const DeviceId source = order_.LastBefore(stream, begin_ns);
    if (is_first || (source.valid() && order_.IssueTime(source) >= synced->second)) {
      Add({SyncKind::kDevice, inferred, source, call, {}});
    }
  }
  synced->second = begin_ns;
}

}  // namespace borescope::internal
