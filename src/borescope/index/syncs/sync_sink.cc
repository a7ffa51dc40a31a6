#include "borescope/index/syncs/sync_finder.h"

namespace borescope::internal {
namespace {

// Searches of a stream for waits for all streams: enough for every known recording.
constexpr uint64_t kLooksPerRow = 64;

}  // namespace

SyncSink::SyncSink(const Trace& trace, const StreamOrder& order, const DeviceClocks& clocks,
                   int64_t drift_ns, SyncEdges& result)
    : trace_(trace),
      order_(order),
      clocks_(clocks),
      drift_ns_(drift_ns),
      result_(result),
      looks_left_(kLooksPerRow * (trace.host().size() + trace.device().size())) {}

bool SyncSink::TakeLook() {
  if (looks_left_ == 0) {
    return false;
  }
  --looks_left_;
  return true;
}

int64_t SyncSink::BeginOf(DeviceId work) const {
  return trace_.device().ts_ns[work.value] + clocks_.SkewOf(trace_.device().track[work.value]);
}

int64_t SyncSink::EndOf(DeviceId work) const {
  return trace_.device().end_ns(work) + clocks_.SkewOf(trace_.device().track[work.value]);
}

bool SyncSink::IsForward(const SyncEdge& edge, int64_t drift_ns) const {
  return edge.kind == SyncKind::kStreamWait
             ? EndOf(edge.source) <= BeginOf(edge.target)
             : EndOf(edge.source) <= trace_.host().end_ns(edge.call) + drift_ns;
}

void SyncSink::Note(const SyncEdge& edge) {
  if (edge.source.valid() && edge.kind != SyncKind::kStreamWait) {
    pairs_.push_back({edge.source, edge.call, edge.inferred});
  }
}

void SyncSink::AddIfForward(const SyncEdge& edge) {
  if (edge.source.valid() && IsForward(edge, 0)) {
    result_.edges.push_back(edge);
  }
}

bool SyncSink::AddIfWaited(const SyncEdge& edge) {
  Note(edge);
  const bool is_edge = edge.source.valid() && IsForward(edge, drift_ns_);
  if (is_edge) {
    result_.edges.push_back(edge);
  }
  return is_edge;
}

void SyncSink::Add(const SyncEdge& edge) {
  if (!AddIfWaited(edge) && edge.source.valid() && result_.backward++ == 0) {
    result_.first_backward = edge;
  }
}

bool SyncSink::IsOfProcess(TrackId stream, HostId call) const {
  const int64_t process = trace_.tracks().process[stream.value];
  return process == kMissing ||
         process == trace_.tracks().pid[trace_.host().track[call.value].value];
}

bool SyncSink::AddDevice(int64_t device, HostId call, bool inferred, ThreadState& thread) {
  const int64_t begin_ns = trace_.host().ts_ns[call.value];
  const auto [synced, is_first] = thread.synced_ns.try_emplace(device, kMissing);
  bool has_work = false;
  for (const TrackId stream : order_.streams()) {
    if (trace_.tracks().pid[stream.value] != device || !IsOfProcess(stream, call)) {
      continue;
    }
    has_work = true;
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
  return has_work;
}

}  // namespace borescope::internal
