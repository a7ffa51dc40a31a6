// Waits inferred from the names of calls and from what ended before they returned.
#include "borescope/index/names/copy_kind.h"
#include "borescope/index/syncs/sync_calls.h"
#include "borescope/index/syncs/sync_finder.h"

namespace borescope::internal {
namespace {

class Inference {
 public:
  Inference(HostId call, SyncSink& sink)
      : trace_(sink.trace()),
        sink_(sink),
        call_(call),
        begin_ns_(trace_.host().ts_ns[call.value]),
        end_ns_(trace_.host().end_ns(call)) {}

  void Copy(std::span<const DeviceId> own, bool is_async) {
    DeviceId last;
    for (const DeviceId id : own) {
      if (trace_.device().kind[id.value] == DeviceKind::kMemcpy && (!is_async || IsPageable(id)) &&
          (!last.valid() || trace_.device().end_ns(id) > trace_.device().end_ns(last))) {
        last = id;
      }
    }
    const SyncEdge edge = Edge(SyncKind::kCopy, last);
    // A copy to the device may continue after the call, which has buffered it.
    if (last.valid() && IsToHost(last)) {
      sink_.AddIfWaited(edge);
    } else {
      sink_.AddIfForward(edge);
    }
  }

  void Device(ThreadState& thread) {
    const TrackId stream = thread.last_stream.valid() ? thread.last_stream : AnyStream();
    if (stream.valid()) {
      sink_.AddDevice(trace_.tracks().pid[stream.value], call_, true, thread);
    }
  }

  void Stream(const ThreadState& thread) {
    DeviceId source;
    if (thread.last_is_copy) {
      source = sink_.order().LastBefore(thread.last_stream, begin_ns_);
    }
    if (sink_.AddIfWaited(Edge(SyncKind::kStream, source))) {
      return;
    }
    AddOrCount(Edge(SyncKind::kStream, LatestOf([&](TrackId stream) {
                      const DeviceId last = sink_.order().LastBefore(stream, begin_ns_);
                      return last.valid() && sink_.EndOf(last) <= end_ns_ ? last : DeviceId{};
                    })));
  }

  // Work that ended before the call began did not release it.
  void Event() {
    const DeviceId source = LatestOf([&](TrackId stream) {
      const DeviceId last =
          sink_.order().LastEndedBefore(stream, begin_ns_, sink_.OnStream(stream, end_ns_));
      return last.valid() && sink_.EndOf(last) >= begin_ns_ ? last : DeviceId{};
    });
    AddOrCount(Edge(SyncKind::kEvent, source));
  }

 private:
  SyncEdge Edge(SyncKind kind, DeviceId source) const { return {kind, true, source, call_, {}}; }

  void AddOrCount(const SyncEdge& edge) {
    edge.source.valid() ? sink_.AddIfForward(edge) : sink_.CountUnresolved();
  }

  bool IsToHost(DeviceId id) const {
    return ClassifyCopy(DeviceKind::kMemcpy, trace_.Name(id)) == CopyKind::kDeviceToHost;
  }

  bool IsPageable(DeviceId id) const {
    return trace_.Name(id).find("Pageable") != std::string_view::npos && IsToHost(id);
  }

  TrackId AnyStream() const {
    for (const TrackId stream : sink_.order().streams()) {
      if (sink_.IsOfProcess(stream, call_)) {
        return stream;
      }
    }
    return {};
  }

  // Of the results of `find` for the streams of the process the one that ends last.
  template <class Find>
  DeviceId LatestOf(const Find& find) {
    DeviceId latest;
    for (const TrackId stream : sink_.order().streams()) {
      if (!sink_.IsOfProcess(stream, call_)) {
        continue;
      }
      if (!sink_.TakeLook()) {
        return {};
      }
      const DeviceId found = find(stream);
      if (found.valid() && (!latest.valid() || sink_.EndOf(found) > sink_.EndOf(latest))) {
        latest = found;
      }
    }
    return latest;
  }

  const Trace& trace_;
  SyncSink& sink_;
  HostId call_;
  int64_t begin_ns_;
  int64_t end_ns_;
};

}  // namespace

void InferSync(HostId call, BlockingCall kind, std::span<const DeviceId> own, ThreadState& thread,
               SyncSink& sink) {
  Inference inference(call, sink);
  switch (kind) {
    case BlockingCall::kNone:
      return;
    case BlockingCall::kCopy:
    case BlockingCall::kAsyncCopy:
      return inference.Copy(own, kind == BlockingCall::kAsyncCopy);
    case BlockingCall::kDevice:
      return inference.Device(thread);
    case BlockingCall::kStream:
      return inference.Stream(thread);
    case BlockingCall::kEvent:
      return inference.Event();
  }
}

}  // namespace borescope::internal
